import type { StateArchive } from '../../snapshot/archive.ts';
import type { DetectOptions } from '../options/detect-options.ts';

const hourMs = 3_600_000;
/**
 * Each anomaly that opened in the last hour doubles the clear windows that a new one needs. Each that
 * decayed in the last day doubles the time in which a new one decays.
 */
const backoff = { openedMs: hourMs, decayedMs: 24 * hourMs, maxDoublings: 4 } as const;

/** How soon an anomaly resolves. */
export interface ResolvePolicy {
  /** Consecutive clear windows that resolve it. */
  readonly clearWindows: number;
  /** Time without a pageable effect that resolves it, though single windows are anomalous. */
  readonly decayedMs: number;
}

/** Times at which anomalies of a series opened and decayed: flapping ones resolve later. */
export class FlapHistory {
  #openedMs: number[] = [];
  #decayedMs: number[] = [];

  opened(startedAtMs: number): void {
    this.#openedMs.push(startedAtMs);
  }

  decayed(windowStartMs: number): void {
    this.#decayedMs.push(windowStartMs);
  }

  /** Forgets anomalies that opened at or after `startedAtMs`. */
  forgetFrom(startedAtMs: number): void {
    this.#openedMs = this.#openedMs.filter((openedMs) => openedMs < startedAtMs);
  }

  /** Policy for an anomaly that started at `startedAtMs`. */
  resolvePolicy(startedAtMs: number, { resolve_windows }: DetectOptions): ResolvePolicy {
    this.#openedMs = laterThan(startedAtMs - backoff.openedMs, this.#openedMs);
    this.#decayedMs = laterThan(startedAtMs - backoff.decayedMs, this.#decayedMs);
    const times = (before: readonly number[]) => 2 ** Math.min(before.length, backoff.maxDoublings);
    return {
      clearWindows: resolve_windows * times(this.#openedMs),
      decayedMs: hourMs * times(this.#decayedMs),
    };
  }

  serialize(state: StateArchive): void {
    state.section('openings', 1, () => {
      this.#openedMs = [...state.numbers(this.#openedMs)];
      this.#decayedMs = [...state.numbers(this.#decayedMs)];
    });
  }
}

function laterThan(ms: number, times: readonly number[]): number[] {
  return times.filter((each) => each > ms);
}
