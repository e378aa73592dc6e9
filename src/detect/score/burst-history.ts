import { dayMs, minuteMs } from '../../base/time.ts';
import type { StateArchive } from '../../snapshot/archive.ts';

/** Tuned with `npm run eval`; test/detect/score/burst-history.test.ts holds them. */
const tuned = {
  /** Time within which a burst reaches its peak. */
  burstMs: 10 * minuteMs,
  keptMs: 14 * dayMs,
  maxBursts: 64,
  /** Number of bursts that recur, and the factor over the second highest that exceeds them. */
  recurringBursts: 3,
  exceedingFactor: 1.5,
  /** Score from which a burst begins; it ends after `endWindows` below `endShare` of its peak. */
  leastScore: 12,
  endShare: 1 / 3,
  endWindows: 6,
} as const;
const minutes = tuned.burstMs / minuteMs;

interface Burst {
  readonly startMs: number;
  /** Highest score up to each minute since the start. */
  readonly scores: Float32Array;
  peak: number;
  /** Time at which the peak was reached. */
  peakMs: number;
}

/**
 * Bursts of one series, emitted or not: a pod that restarts, a client that retries. After three in two weeks
 * a similar one must score higher, or last longer, to exceed the threshold.
 *
 * Memory: 64 bursts of 40 bytes at most.
 */
export class BurstHistory {
  #past: Burst[] = [];
  #current: Burst | undefined;
  #windowsBelow = 0;

  /** Score from which a window must be observed; while a burst is active, every window must be. */
  static readonly leastScore = tuned.leastScore;

  get isActive(): boolean {
    return this.#current !== undefined;
  }

  /** Observes the score of a window; windows come in order. */
  observe(windowStartMs: number, score: number): void {
    if (score < tuned.leastScore && this.#current === undefined) return;
    this.#current ??= newBurst(windowStartMs);
    const burst = this.#current;
    if (score > burst.peak) {
      burst.peak = score;
      burst.peakMs = windowStartMs;
    }
    burst.scores.fill(burst.peak, minuteOf(windowStartMs - burst.startMs));
    this.#windowsBelow = score < burst.peak * tuned.endShare ? this.#windowsBelow + 1 : 0;
    if (this.#windowsBelow < tuned.endWindows) return;
    if (burst.peakMs - burst.startMs < tuned.burstMs) this.#past.push(burst);
    this.#past = this.#past
      .filter(({ startMs }) => windowStartMs - startMs < tuned.keptMs)
      .slice(-tuned.maxBursts);
    this.#current = undefined;
    this.#windowsBelow = 0;
  }

  /** Score from which the active burst exceeds the recurring ones; 0 without any. */
  level(windowStartMs: number): number {
    if (this.#current === undefined || this.#past.length < tuned.recurringBursts) return 0;
    // Earlier bursts may have begun a little faster than this one.
    const minute = minuteOf(windowStartMs + minuteMs - this.#current.startMs);
    const reached = this.#past.map(({ scores }) => scores[minute] as number);
    const [, second = 0] = reached.sort((a, b) => b - a);
    return second * tuned.exceedingFactor;
  }

  serialize(state: StateArchive): void {
    state.section('short episodes', 1, () => {
      this.#past = state.list(this.#past, (burst) => serializeBurst(state, burst));
      this.#current = state.optional(this.#current, (burst) => serializeBurst(state, burst));
      this.#windowsBelow = state.number(this.#windowsBelow);
    });
  }
}

function serializeBurst(state: StateArchive, burst = newBurst(0)): Burst {
  const startMs = state.number(burst.startMs);
  state.fill(burst.scores);
  return { ...burst, startMs, peak: state.number(burst.peak), peakMs: state.number(burst.peakMs) };
}

function newBurst(startMs: number): Burst {
  return { startMs, scores: new Float32Array(minutes), peak: 0, peakMs: startMs };
}

function minuteOf(elapsedMs: number): number {
  return Math.min(minutes - 1, Math.max(0, Math.floor(elapsedMs / minuteMs)));
}
