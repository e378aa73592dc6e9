import type { StateArchive } from '../../snapshot/archive.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import type { ResolvePolicy } from '../tail/open-anomaly.ts';

const hourMs = 3_600_000;
/**
 * Each anomaly that was already open in the last hour doubles the quiet that a new one needs; each that has
 * petered out on the last day, the time in which a new one does.
 */
const backoff = { quietMs: hourMs, peteredOutMs: 24 * hourMs, most: 4 } as const;

/** When anomalies of a series were opened, and how they ended: what comes and goes is over less soon. */
export class FlapHistory {
  #openedMs: number[] = [];
  #peteredOutMs: number[] = [];

  opened(startedAtMs: number): void {
    this.#openedMs.push(startedAtMs);
  }

  decayed(windowStartMs: number): void {
    this.#peteredOutMs.push(windowStartMs);
  }

  /** Forgets those that were opened from then on. */
  forgetFrom(startedAtMs: number): void {
    this.#openedMs = this.#openedMs.filter((openedMs) => openedMs < startedAtMs);
  }

  /** How soon one that began then is over. */
  resolvePolicy(startedAtMs: number, { resolve_windows }: DetectOptions): ResolvePolicy {
    this.#openedMs = laterThan(startedAtMs - backoff.quietMs, this.#openedMs);
    this.#peteredOutMs = laterThan(startedAtMs - backoff.peteredOutMs, this.#peteredOutMs);
    const times = (before: readonly number[]) => 2 ** Math.min(before.length, backoff.most);
    return {
      clearWindows: resolve_windows * times(this.#openedMs),
      decayedMs: hourMs * times(this.#peteredOutMs),
    };
  }

  serialize(state: StateArchive): void {
    state.section('openings', 1, () => {
      this.#openedMs = [...state.numbers(this.#openedMs)];
      this.#peteredOutMs = [...state.numbers(this.#peteredOutMs)];
    });
  }
}

function laterThan(ms: number, times: readonly number[]): number[] {
  return times.filter((each) => each > ms);
}
