import { kindOfName } from '../base/dimensions.ts';
import type { TDigest } from '../sketch/t-digest.ts';
import { type CompareOptions, decidingQuantiles, equalPart } from './compare-options.ts';
import { PairEvidence } from './pair-evidence.ts';
import { slowCounts, TailMinutes } from './tail-minutes.ts';

export type DecidingQuantile = (typeof decidingQuantiles)[number];

/** Evidence on one endpoint, for either verdict. */
export class EndpointEvidence {
  readonly isWorse = new PairEvidence();
  readonly isNoWorse = new PairEvidence();
}

/**
 * The evidence on the durations of one stage, at each quantile that decides.
 *
 * Cost: some 0.1 ms a minute. Memory: the digests of all minutes.
 */
export class StageTest {
  readonly stage: string;
  readonly tail = new TailMinutes();
  readonly evidence: ReadonlyMap<DecidingQuantile, EndpointEvidence> = new Map(
    decidingQuantiles.map((q) => [q, new EndpointEvidence()]),
  );
  readonly #options: CompareOptions;
  #candidates = 0;
  #baselines = 0;

  constructor(stage: string, options: CompareOptions) {
    this.stage = stage;
    this.#options = marginOf(stage, options);
  }

  /** True once a minute has had durations of both versions. */
  get isPaired(): boolean {
    return this.tail.minutes.length > 0;
  }

  /** True once each version has as many requests with this stage as a verdict takes. */
  get hasEnough(): boolean {
    return Math.min(this.#candidates, this.#baselines) >= this.#options.minRequests;
  }

  /** Adds a minute of the baseline, with one of the candidate if it has durations. */
  observe(candidate: TDigest | undefined, baseline: TDigest): void {
    this.tail.observe(candidate, baseline);
    const minute = candidate && this.tail.minutes.at(-1);
    if (minute === undefined) return;
    this.#candidates += minute.candidate.count;
    this.#baselines += minute.baseline.count;
    const { minEffectRatio, minEffectMs } = this.#options;
    const equalRatio = 1 + equalPart * (minEffectRatio - 1);
    const margin = { ratio: minEffectRatio, addedMs: minEffectMs };
    for (const [q, { isWorse, isNoWorse }] of this.evidence) {
      const equal = slowCounts(minute, q, { ratio: equalRatio }, 'fast');
      isWorse.observe(equal.candidate, equal.baseline);
      const within = slowCounts(minute, q, margin, 'slow');
      isNoWorse.observe(within.baseline, within.candidate);
    }
  }

  /** True if the measured difference is beyond the margin. */
  isBeyondMargin(q: number): boolean {
    const { minEffectRatio, minEffectMs } = this.#options;
    const [now, before] = [this.tail.candidate.quantile(q), this.tail.baseline.quantile(q)];
    return now >= before * minEffectRatio && now - before >= minEffectMs;
  }
}

/**
 * The margin of a stage. Of a measure only the ratio counts, as for anomalies: milliseconds per token are
 * not those of a request.
 */
export function marginOf(stage: string, options: CompareOptions): CompareOptions {
  return kindOfName(stage) === 'measure' ? { ...options, minEffectMs: 0 } : options;
}
