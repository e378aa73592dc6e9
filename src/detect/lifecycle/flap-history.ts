import { hourMs } from '../../base/time.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import type { DetectOptions } from '../options/detect-options.ts';

/**
 * Each anomaly that opened in the last hour doubles the clear windows that a new one needs. Each that
 * decayed in the last day doubles the time in which a new one decays.
 */
const backoff = { openedMs: hourMs, decayedMs: 24 * hourMs, maxDoublings: 4 } as const;

/** Time and windows after which an anomaly resolves. */
export interface ResolvePolicy {
  /** Consecutive clear windows that resolve it. */
  readonly clearWindows: number;
  /** Time without a pageable effect that resolves it, though single windows are anomalous. */
  readonly decayedMs: number;
}

/** Time of a change of an anomaly, and the stage that it blamed. */
const nothing = { ms: 0, stage: '' };
type Happened = Readonly<typeof nothing>;

/**
 * Times at which anomalies of a series opened and decayed: flapping ones resolve later. Those that blame another
 * stage have another cause, so they do not count.
 */
export class FlapHistory {
  #opened: readonly Happened[] = [];
  #decayed: readonly Happened[] = [];

  opened(startedAtMs: number, stage = ''): void {
    this.#opened = [...this.#opened, { ms: startedAtMs, stage }];
  }

  decayed(windowStartMs: number, stage = ''): void {
    this.#decayed = [...this.#decayed, { ms: windowStartMs, stage }];
  }

  /** Forgets an anomaly that blames a stage and opened at or after `startedAtMs`. */
  forgetFrom(startedAtMs: number, stage = ''): void {
    this.#opened = this.#opened.filter((each) => each.stage !== stage || each.ms < startedAtMs);
  }

  /** Policy for an anomaly that started at `startedAtMs`. */
  resolvePolicy(
    startedAtMs: number,
    { resolve_windows }: DetectOptions,
    stage = '',
  ): ResolvePolicy {
    this.#opened = laterThan(startedAtMs - backoff.openedMs, this.#opened);
    this.#decayed = laterThan(startedAtMs - backoff.decayedMs, this.#decayed);
    const times = (all: readonly Happened[]) => {
      const before = all.filter((each) => each.stage === stage).length;
      return 2 ** Math.min(before, backoff.maxDoublings);
    };
    return {
      clearWindows: resolve_windows * times(this.#opened),
      decayedMs: hourMs * times(this.#decayed),
    };
  }

  serialize(state: StateArchive): void {
    state.section('openings', 2, () => {
      this.#opened = state.list(this.#opened, (one) => serializeHappened(state, one));
      this.#decayed = state.list(this.#decayed, (one) => serializeHappened(state, one));
    });
  }
}

function serializeHappened(state: StateArchive, one: Happened = nothing): Happened {
  return { ms: state.number(one.ms), stage: state.text(one.stage) };
}

function laterThan(ms: number, all: readonly Happened[]): Happened[] {
  return all.filter((each) => each.ms > ms);
}
