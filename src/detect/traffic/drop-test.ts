import { DailyRecord } from '../../baseline/recurrence/daily-maximum.ts';
import { type TrafficForecast, TrafficProfile } from '../../baseline/traffic-profile.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import type { TestLevels } from '../options/page-budget.ts';
import { Cusum } from '../score/cusum.ts';
import type { PeakPool } from '../score/peak-pool.ts';
import { PeaksOverThreshold, peakScore } from '../score/peaks-over-threshold.ts';

/** What the test says of the last windows, where they are odd at all. */
export interface DropVerdict {
  readonly startedAtMs: number;
  readonly windows: number;
  readonly requests: number;
  readonly expected: number;
  readonly logP: number;
  readonly logLevel: number;
  readonly dispersion: number;
  readonly opens: boolean;
}

interface Count {
  readonly startMs: number;
  readonly requests: number;
  readonly expected: number;
}

const minuteMs = 60_000;
/** Parts of the usual traffic that are looked for, of what may be left at most. */
const parts = [1, 0.5, 0.1] as const;
const oddScore = Math.log(1e3);
/** A drop lasts so long before anybody is told, and its last part still shows it. */
const lastingMs = 5 * minuteMs;
const lastMs = minuteMs;
/** Windows are kept for so long: what lasts longer is judged by its last ones. */
const keptMs = 10 * minuteMs;
const youngPart = 0.5;
/** So many times `min_requests` are usual in what is judged. */
const manyTimes = 3;
/**
 * How much blocks of ten minutes vary around what is foretold, as a part of it, squared: before any block, at
 * least, and up to so many times the usual. Two days are remembered.
 */
const variance = {
  prior: 0.02,
  priorBlocks: 12,
  least: 0.0025,
  maxVarianceRatio: 9,
  blocks: 288,
} as const;

/** A drop is told that is so much deeper than any ten minutes of the last two weeks. */
const deeper = 1.4;
/** A block that falls short is followed by others: their evidence counts by so much less. */
const followed = 2;

/**
 * Judges whether a model has less traffic than foretold (`TrafficProfile`): the log-likelihood ratio of a
 * few lower rates is added up for as long as it is above 0, over how much more blocks of ten minutes vary
 * than independent requests would, and must reach what the model's own peaks and the page budget ask for.
 */
export class DropTest {
  readonly #options: DetectOptions;
  readonly #peaks: PeaksOverThreshold;
  readonly #evidence = new Cusum(parts.length, peakScore);
  readonly #gains = new Float64Array(parts.length);
  /** How many times as much was foretold as came, block by block. */
  readonly #shortest = new DailyRecord();
  #variance: number = variance.prior;
  #blocks = 0;
  /** Of the block that goes on. */
  #block = Number.NaN;
  #requests = 0;
  #expected = 0;
  /** The last windows, oldest first. */
  #counts: Count[] = [];

  /** @param pool shared by all tests of traffic. */
  constructor(options: DetectOptions, pool: PeakPool) {
    this.#options = options;
    this.#peaks = new PeaksOverThreshold(options.window, pool);
  }

  /** undefined when nothing is odd about the window and those before it. */
  evaluate(
    startMs: number,
    requests: number,
    forecast: TrafficForecast,
    levels: TestLevels,
  ): DropVerdict | undefined {
    const expected = (forecast.perSecond * this.#options.window) / 1000;
    this.#learn(startMs, requests, expected);
    this.#counts.push({ startMs, requests, expected });
    while (startMs - (this.#counts[0]?.startMs ?? startMs) >= keptMs) this.#counts.shift();
    const left = this.#left(forecast);
    const restless = this.#dispersion(forecast);
    for (const [i, part] of parts.entries()) {
      const rest = part * left;
      this.#gains[i] = (requests * Math.log(rest) + expected * (1 - rest)) / restless;
    }
    const drop = this.#evidence.add(startMs, this.#gains);
    const score = this.#evidence.sum(drop);
    this.#peaks.learn(score);
    if (score < peakScore) return undefined;
    const level = Math.max(oddScore, this.#peaks.level(levels.perWeek));
    const sinceMs = this.#evidence.startMs(drop);
    const run = this.#counts.filter((count) => count.startMs >= sinceMs);
    const sums = sumOf(run);
    const isLasting = startMs - sinceMs + this.#options.window >= lastingMs;
    const isMany = sums.expected >= manyTimes * this.#options.min_requests;
    const last = sumOf(run.filter((count) => startMs - count.startMs < lastMs));
    // Where nothing comes at all it is for `SilenceTest` to say whether that is odd.
    const isSome = last.requests > 0;
    const most = Math.min(left, 1 / (deeper * this.#shortest.highest));
    const isLarge = [sums, last].every((each) => each.requests <= most * each.expected);
    return {
      startedAtMs: sinceMs,
      windows: Math.max(1, run.length),
      ...sums,
      logP: -score,
      logLevel: -level,
      dispersion: restless,
      opens: score >= level && isLasting && isMany && isSome && isLarge,
    };
  }

  /** Forgets the evidence, not the past: what it said has been dealt with, or is not to be judged. */
  forgetRun(): void {
    this.#evidence.forget();
    this.#peaks.forgetPeak();
    this.#block = Number.NaN;
    this.#counts = [];
  }

  /** All but the pool, which is shared. */
  serialize(state: StateArchive): void {
    state.section('drop test', 1, () => {
      this.#peaks.serialize(state);
      this.#evidence.serialize(state);
      this.#shortest.serialize(state);
      this.#variance = state.number(this.#variance);
      this.#blocks = state.number(this.#blocks);
      this.#block = state.number(this.#block);
      this.#requests = state.number(this.#requests);
      this.#expected = state.number(this.#expected);
      this.#counts = state.list(this.#counts, (count) => ({
        startMs: state.number(count?.startMs ?? 0),
        requests: state.number(count?.requests ?? 0),
        expected: state.number(count?.expected ?? 0),
      }));
    });
  }

  /** What may be left at most; half of it before a weekend was seen. */
  #left({ isWeekKnown }: TrafficForecast): number {
    return (1 - this.#options.min_traffic_drop) * (isWeekKnown ? 1 : youngPart);
  }

  /** How many times as much as independent requests blocks of ten minutes vary. */
  #dispersion({ perSecond }: TrafficForecast): number {
    return 1 + followed * this.#variance * perSecond * (TrafficProfile.blockMs / 1000);
  }

  #learn(startMs: number, requests: number, expected: number): void {
    const block = Math.floor(startMs / TrafficProfile.blockMs);
    if (block !== this.#block) {
      if (!Number.isNaN(this.#block) && this.#expected > 0) this.#learnBlock(startMs);
      this.#block = block;
      this.#requests = 0;
      this.#expected = 0;
    }
    this.#requests += requests;
    this.#expected += expected;
  }

  /**
   * What falls short by more than the chance of independent requests, as a part of what was foretold,
   * squared; twice, as it falls short half of the time. More than foretold says nothing: that is careful.
   */
  #learnBlock(startMs: number): void {
    const expected = this.#expected;
    const short = Math.max(0, expected - this.#requests);
    const beyond = Math.max(0, 2 * short ** 2 - expected) / expected ** 2;
    const square = Math.min(beyond, variance.maxVarianceRatio * this.#variance);
    const weight = 1 / (Math.min(this.#blocks, variance.blocks) + variance.priorBlocks);
    this.#variance = Math.max(variance.least, this.#variance + weight * (square - this.#variance));
    this.#blocks += 1;
    this.#shortest.observe(startMs, expected / Math.max(1, this.#requests));
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
