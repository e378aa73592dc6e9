import { minuteMs } from '../../base/time.ts';
import { DailyMaximum } from '../../baseline/recurrence/daily-maximum.ts';
import { type TrafficForecast, TrafficProfile } from '../../baseline/traffic-profile.ts';
import { type StateArchive, serializeFields } from '../../snapshot/archive.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import type { TestLevels } from '../options/page-budget.ts';
import { Cusum } from '../score/cusum.ts';
import type { PeakPool } from '../score/peak-pool.ts';
import { PeaksOverThreshold, peakScore } from '../score/peaks-over-threshold.ts';

/** Result of the test for the last windows that look anomalous. */
export interface DropVerdict {
  readonly startedAtMs: number;
  readonly windows: number;
  readonly requests: number;
  readonly expected: number;
  readonly logP: number;
  readonly logAlpha: number;
  readonly dispersion: number;
  readonly opens: boolean;
}

interface Count {
  readonly startMs: number;
  readonly requests: number;
  readonly expected: number;
}

/** Faults that are tested: remaining traffic, relative to the largest remainder of a drop. */
const remainders = [1, 0.5, 0.1] as const;
/** Tuned with `npm run eval`; test/detect/traffic/traffic-detector.test.ts holds them. */
const tuned = {
  minScore: Math.log(1e3),
  /** Duration of a drop until it opens, and of its last part, which must still show it. */
  minDurationMs: 5 * minuteMs,
  lastMs: minuteMs,
  /** Retention of windows: a longer drop is evaluated by its last ones. */
  retentionMs: 10 * minuteMs,
  youngPart: 0.5,
  /** Expected requests that a drop needs, in multiples of `min_requests`. */
  minRequestsFactor: 3,
  /**
   * Relative variance of ten-minute blocks around the forecast: its prior, its minimum, and the largest
   * update as a multiple. The memory is two days.
   */
  variance: { prior: 0.02, priorBlocks: 12, least: 0.0025, maxVarianceRatio: 9, blocks: 288 },
  /** Factor by which a drop must be deeper than any ten minutes of the last two weeks. */
  depthFactor: 1.4,
  /** Factor for correlated blocks: one with a deficit is followed by others. */
  dispersionFactor: 2,
} as const;

/**
 * Tests whether a model has less traffic than forecast (`TrafficProfile`). It accumulates the
 * log-likelihood ratio of a few lower rates while that is above 0, divided by the overdispersion of
 * ten-minute blocks. The threshold follows from the model's own peaks and the page budget.
 */
export class DropTest {
  readonly #options: DetectOptions;
  readonly #peaks: PeaksOverThreshold;
  readonly #evidence = new Cusum(remainders.length, peakScore);
  readonly #gains = new Float64Array(remainders.length);
  /** Forecast divided by actual requests, block by block. */
  readonly #deficits = new DailyMaximum();
  #variance: number = tuned.variance.prior;
  #blocks = 0;
  /** Index, requests and forecast of the open block. */
  #openBlock = Number.NaN;
  #requests = 0;
  #expected = 0;
  /** The last windows, oldest first. */
  #counts: Count[] = [];

  constructor(options: DetectOptions, pool: PeakPool) {
    this.#options = options;
    this.#peaks = new PeaksOverThreshold(options.window, pool);
  }

  /** Evaluates a window; undefined while the evidence is unremarkable. */
  evaluate(
    startMs: number,
    requests: number,
    forecast: TrafficForecast,
    levels: TestLevels,
  ): DropVerdict | undefined {
    const expected = (forecast.perSecond * this.#options.window) / 1000;
    this.#learn(startMs, requests, expected);
    this.#counts.push({ startMs, requests, expected });
    while (startMs - (this.#counts[0]?.startMs ?? startMs) >= tuned.retentionMs)
      this.#counts.shift();
    const maxRemaining = this.#maxRemaining(forecast);
    const dispersion = this.#dispersion(forecast);
    for (const [i, remainder] of remainders.entries()) {
      const remaining = remainder * maxRemaining;
      this.#gains[i] = (requests * Math.log(remaining) + expected * (1 - remaining)) / dispersion;
    }
    const fault = this.#evidence.add(startMs, this.#gains);
    const score = this.#evidence.sum(fault);
    this.#peaks.learn(score);
    if (score < peakScore) return undefined;
    const level = Math.max(tuned.minScore, this.#peaks.level(levels.perWeek));
    const sinceMs = this.#evidence.startMs(fault);
    const run = this.#counts.filter((count) => count.startMs >= sinceMs);
    const sums = sumOf(run);
    const isLong = startMs - sinceMs + this.#options.window >= tuned.minDurationMs;
    const hasEnough = sums.expected >= tuned.minRequestsFactor * this.#options.min_requests;
    const last = sumOf(run.filter((count) => startMs - count.startMs < tuned.lastMs));
    // `SilenceTest` covers traffic that has stopped altogether.
    const hasRequests = last.requests > 0;
    const maxRatio = Math.min(maxRemaining, 1 / (tuned.depthFactor * this.#deficits.highest));
    const isLarge = [sums, last].every((each) => each.requests <= maxRatio * each.expected);
    return {
      startedAtMs: sinceMs,
      windows: Math.max(1, run.length),
      ...sums,
      logP: -score,
      logAlpha: -level,
      dispersion,
      opens: score >= level && isLong && hasEnough && hasRequests && isLarge,
    };
  }

  /** Resets the evidence after an anomaly, or where it cannot be evaluated; learnt state stays. */
  forgetRun(): void {
    this.#evidence.forget();
    this.#peaks.forgetPeak();
    this.#openBlock = Number.NaN;
    this.#counts = [];
  }

  /** Serializes all but the shared pool. */
  serialize(state: StateArchive): void {
    state.section('drop test', 1, () => {
      this.#peaks.serialize(state);
      this.#evidence.serialize(state);
      this.#deficits.serialize(state);
      this.#variance = state.number(this.#variance);
      this.#blocks = state.number(this.#blocks);
      this.#openBlock = state.number(this.#openBlock);
      this.#requests = state.number(this.#requests);
      this.#expected = state.number(this.#expected);
      const empty: Count = { startMs: 0, requests: 0, expected: 0 };
      this.#counts = state.list(this.#counts, (count) => serializeFields(state, count, empty));
    });
  }

  /** Largest part of the forecast that counts as a drop; half of it before the first weekend. */
  #maxRemaining({ isWeekKnown }: TrafficForecast): number {
    return (1 - this.#options.min_traffic_drop) * (isWeekKnown ? 1 : tuned.youngPart);
  }

  /** Variance of ten-minute blocks, against that of independent requests. */
  #dispersion({ perSecond }: TrafficForecast): number {
    const blockSeconds = TrafficProfile.blockMs / 1000;
    return 1 + tuned.dispersionFactor * this.#variance * perSecond * blockSeconds;
  }

  #learn(startMs: number, requests: number, expected: number): void {
    const block = Math.floor(startMs / TrafficProfile.blockMs);
    if (block !== this.#openBlock) {
      if (!Number.isNaN(this.#openBlock) && this.#expected > 0) this.#learnBlock(startMs);
      this.#openBlock = block;
      this.#requests = 0;
      this.#expected = 0;
    }
    this.#requests += requests;
    this.#expected += expected;
  }

  /**
   * Learns the squared deficit beyond that of independent requests, relative to the forecast. It counts
   * twice, as only half of the blocks have a deficit. Surpluses are ignored, which is conservative.
   */
  #learnBlock(startMs: number): void {
    const expected = this.#expected;
    const deficit = Math.max(0, expected - this.#requests);
    const excess = Math.max(0, 2 * deficit ** 2 - expected) / expected ** 2;
    const square = Math.min(excess, tuned.variance.maxVarianceRatio * this.#variance);
    const weight = 1 / (Math.min(this.#blocks, tuned.variance.blocks) + tuned.variance.priorBlocks);
    const variance = this.#variance + weight * (square - this.#variance);
    this.#variance = Math.max(tuned.variance.least, variance);
    this.#blocks += 1;
    this.#deficits.observe(startMs, expected / Math.max(1, this.#requests));
  }
}

function sumOf(counts: readonly Count[]): { readonly requests: number; readonly expected: number } {
  let [requests, expected] = [0, 0];
  for (const count of counts) {
    requests += count.requests;
    expected += count.expected;
  }
  return { requests, expected };
}
