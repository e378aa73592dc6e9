import type { RateReference } from '../../baseline/rate-baseline.ts';
import { DailyRecurrence } from '../../baseline/recurrence/daily-recurrence.ts';
import { Arena } from '../../memory/arena.ts';
import { type StateArchive, serializeFields } from '../../snapshot/archive.ts';
import { type DetectOptions, quarantineWindows } from '../options/detect-options.ts';
import type { TestLevels } from '../options/page-budget.ts';
import { BurstHistory } from '../score/burst-history.ts';
import { Cusum } from '../score/cusum.ts';
import { LocalLevel } from '../score/local-level.ts';
import type { PeakPool } from '../score/peak-pool.ts';
import { PeaksOverThreshold, peakScore } from '../score/peaks-over-threshold.ts';
import { EvaluatedWindows, type ProportionCount } from './evaluated-windows.ts';
import { type LeastRise, ProportionWeights, suspiciousScore } from './proportion-weights.ts';

const memory = Arena.shared();

/** Result of the test for a window and those before it that look anomalous. */
export interface ProportionVerdict {
  readonly startedAtMs: number;
  readonly windows: number;
  readonly requests: number;
  readonly hits: number;
  readonly logP: number;
  readonly logAlpha: number;
  readonly dispersion: number;
  readonly reference: RateReference;
  /** True if significance, effect and duration suffice to open an anomaly. */
  readonly opens: boolean;
  /** True if the window should not be learnt. */
  readonly suspicious: boolean;
}

/** Tuned with `npm run eval`; test/detect/proportion/proportion-detector.test.ts holds them. */
const tuned = {
  /** Evidence that must remain without its strongest window. */
  confirmedScore: Math.log(100),
  /** Memory of the dispersion: two days of 10 s windows; the prior weighs as much as 12 of them. */
  dispersionWindows: 17_280,
  prior: { dispersion: 4, windows: 12 },
  maxVarianceRatio: 9,
  /** Weight of the baseline's noise: evidence is divided by 1 + 2 × requests / requests of the baseline. */
  baselineNoise: 2,
  /** Fewest hits of an anomaly. */
  minHits: 5,
  freshMs: 3_600_000,
  /**
   * Known time and learnt requests, its predecessor's included, that make a series mature. Before, it needs
   * more requests.
   */
  matureMs: 86_400_000,
  matureRequests: 300,
  minRequestsFactor: 3,
  /**
   * Hits, as a part of `min_requests`, and time since the first of them, that suffice in a mature series: few
   * requests are no chance where so many fail, and a pod has restarted by then.
   */
  manyHits: { part: 2 / 5, afterMs: 120_000 },
} as const;
/** Windows that must add evidence before an anomaly opens. */
export interface MinWindows {
  /** In a series that is known for a day, its predecessor's time included; and before that. */
  readonly mature: number;
  readonly young: number;
  /** In the first hour of a series, whatever its predecessor. */
  readonly fresh: number;
}

const { faults } = ProportionWeights;

/** Offsets in the allocation, in doubles: the faults' dispersions come first. */
const PEAKS = faults;
const EVIDENCE = PEAKS + PeaksOverThreshold.doubles;
const DRIFT = EVIDENCE + Cusum.doubles(faults);
const WEIGHTS = DRIFT + LocalLevel.doubles(faults);
const doubles = WEIGHTS + ProportionWeights.doubles;

/** Evidence below this starts neither a recurrence nor a burst. */
const minRecurrenceScore = Math.min(DailyRecurrence.leastScore, BurstHistory.leastScore);

/** Scratch, per fault: evidence that a window adds, and its excess over the mean. */
const gains = new Float64Array(faults);
const excess = new Float64Array(faults);

/**
 * Tests whether a series has more hits, such as failures, than its past predicts: `ShiftTest` for counts.
 * It accumulates the log-likelihood ratio of some higher rates while that is above 0, less the recent
 * forecast and divided by the dispersion. The threshold follows from the series' own peaks and the page
 * budget.
 *
 * Memory: some 3 KB; the 0.7 KB that each window needs are contiguous. Cost: some 100 ns per window.
 */
export class ProportionTest {
  readonly #options: DetectOptions;
  readonly #least: LeastRise;
  readonly #minWindows: MinWindows;
  readonly #peaks: PeaksOverThreshold;
  readonly #daily = new DailyRecurrence();
  readonly #bursts = new BurstHistory();
  /** True while a recurrence or a burst is in progress. */
  #isRecurring = false;
  readonly #offset = memory.allocateFor(this, doubles);
  readonly #localLevel = new LocalLevel(faults, this.#offset + DRIFT);
  readonly #evidence = new Cusum(faults, peakScore, this.#offset + EVIDENCE);
  readonly #weights = new ProportionWeights(this.#offset + WEIGHTS);
  #reference: RateReference | undefined;
  readonly #windows = new EvaluatedWindows();
  #learnt = 0;
  #inherited = 0;
  readonly #known = { requests: 0, fromMs: Number.NaN, toMs: Number.NaN, inheritedMs: 0 };

  /** @param pool shared by all tests of this proportion. */
  constructor(options: DetectOptions, least: LeastRise, minWindows: MinWindows, pool: PeakPool) {
    this.#options = options;
    this.#least = least;
    this.#minWindows = minWindows;
    this.#peaks = new PeaksOverThreshold(options.window, pool, this.#offset + PEAKS);
    this.#dispersions.fill(tuned.prior.dispersion);
  }

  /** Evaluates a window; undefined while the evidence is unremarkable. */
  evaluate(
    startMs: number,
    requests: number,
    hits: number,
    reference: RateReference,
    levels: TestLevels,
  ): ProportionVerdict | undefined {
    if (reference !== this.#reference) {
      this.#reference = reference;
      this.#weights.rebase(reference, this.#least);
    }
    this.#windows.add(startMs, requests, hits);
    const fault = this.#accumulate(startMs, requests, hits);
    const score = this.#scoreOf(fault, reference);
    this.#observeRecurrences(startMs, fault, score);
    const before = score < peakScore ? 0 : this.#recurrenceLevel(startMs, fault);
    // The peaks of known recurrences are not learnt.
    if (score > before) this.#windows.score(score);
    if (score < peakScore) return undefined;
    const level = Math.max(suspiciousScore, this.#peaks.level(levels.perWeek), before);
    return this.#verdict(fault, score, level, reference);
  }

  #observeRecurrences(startMs: number, fault: number, score: number): void {
    const sum = this.#evidence.sum(fault);
    if (sum < minRecurrenceScore && !this.#isRecurring) return;
    const sinceMs = this.#evidence.startMs(fault);
    this.#daily.observe(startMs, sum, this.#varianceInflation(fault), sinceMs);
    this.#bursts.observe(startMs, score);
    this.#isRecurring = this.#daily.isOpen || this.#bursts.isActive;
  }

  #recurrenceLevel(startMs: number, fault: number): number {
    const daily = this.#daily.threshold(startMs, this.#varianceInflation(fault));
    return Math.max(daily, this.#bursts.level(startMs));
  }

  /** Learns an evaluated window; one that belongs to an anomaly is skipped. */
  learn(startMs: number, isLearnable: boolean): void {
    const released = this.#windows.release(startMs);
    if (released === undefined) return;
    if (!isLearnable) {
      this.#peaks.forgetPeak();
      return;
    }
    this.#learnt += 1;
    this.#peaks.learn(this.#windows.scoreOf(released));
    const requests = this.#windows.requestsOf(released);
    const known = this.#known;
    known.requests += requests;
    if (Number.isNaN(known.fromMs)) known.fromMs = startMs;
    known.toMs = startMs + this.#options.window;
    if (this.#reference === undefined || requests === 0) return;
    const hits = this.#windows.hitsOf(released);
    const weights = this.#weights;
    const all = memory.doubles;
    const offset = this.#offset;
    const weight =
      1 / (Math.min(this.#learnt + this.#inherited, tuned.dispersionWindows) + tuned.prior.windows);
    for (let i = 0; i < faults; i++) {
      const beyond = weights.scoreOf(i, requests, hits) - requests * weights.mean(i);
      excess[i] = beyond;
      const variance = requests * weights.variance(i);
      if (variance <= 0) continue;
      const baseline = all[offset + i] as number;
      const square = Math.min(beyond ** 2 / variance, tuned.maxVarianceRatio * baseline);
      all[offset + i] = Math.max(1, baseline + weight * (square - baseline));
    }
    if (!this.#localLevel.observe(requests, excess)) return;
    this.#localLevel.update((i) => weights.variance(i) * (all[offset + i] as number));
  }

  /** Inherits the state of a series that this one replaces. */
  inherit(other: ProportionTest): void {
    this.#peaks.inherit(other.#peaks);
    this.#localLevel.inherit(other.#localLevel);
    this.#dispersions.set(other.#dispersions);
    this.#inherited = other.#learnt + other.#inherited;
    this.#known.requests = other.#known.requests;
    this.#known.inheritedMs = other.#known.inheritedMs + other.#knownMs;
  }

  /** Time from the first to the last learnt window. */
  get #knownMs(): number {
    const { fromMs, toMs } = this.#known;
    return Number.isNaN(fromMs) ? 0 : toMs - fromMs;
  }

  /** Resets the evidence after an anomaly; learnt state stays. */
  forgetRun(): void {
    this.#evidence.forget();
    this.#peaks.forgetPeak();
  }

  /** Restarts against another baseline; dispersions stay. */
  rebase(): void {
    this.forgetRun();
    this.#localLevel.forget();
  }

  /** Serializes all but the weights, which follow from the baseline, and the shared pool. */
  serialize(state: StateArchive): void {
    state.section('proportion test', 2, () => {
      this.#peaks.serialize(state);
      this.#daily.serialize(state);
      this.#bursts.serialize(state);
      this.#localLevel.serialize(state);
      this.#evidence.serialize(state);
      state.fill(this.#dispersions);
      this.#windows.serialize(state);
      this.#learnt = state.number(this.#learnt);
      this.#inherited = state.number(this.#inherited);
      Object.assign(this.#known, serializeFields(state, this.#known, { ...this.#known }));
    });
    this.#isRecurring = this.#daily.isOpen || this.#bursts.isActive;
  }

  /** A view that is valid until the memory grows. */
  get #dispersions(): Float64Array {
    return memory.doubles.subarray(this.#offset, this.#offset + faults);
  }

  #accumulate(startMs: number, requests: number, hits: number): number {
    const weights = this.#weights;
    for (let i = 0; i < faults; i++) {
      const predicted = requests * Math.max(0, this.#localLevel.level(i));
      const score = weights.scoreOf(i, requests, hits);
      gains[i] = (score - predicted) / this.#varianceInflation(i);
    }
    return this.#evidence.add(startMs, gains);
  }

  /** Divisor of the evidence for a fault: the dispersion, times the spread of its level. */
  #varianceInflation(fault: number): number {
    return (memory.doubles[this.#offset + fault] as number) * this.#localLevel.spread(fault);
  }

  /** Evidence for a fault, reduced by the baseline's own noise. */
  #scoreOf(fault: number, reference: RateReference): number {
    const sum = this.#evidence.sum(fault);
    if (sum < peakScore) return sum;
    const { requests } = sumOf(this.#windowsOf(fault));
    return sum / (1 + (tuned.baselineNoise * requests) / reference.requests);
  }

  /** Windows since the evidence for a fault began, at least one. */
  #windowsOf(fault: number): readonly ProportionCount[] {
    return this.#windows.since(this.#evidence.startMs(fault), this.#leastRequests);
  }

  #verdict(
    fault: number,
    score: number,
    level: number,
    reference: RateReference,
  ): ProportionVerdict {
    const { effect } = this.#weights;
    // The effect must be large over all windows of the evidence, and over the last ones.
    const run = this.#windowsOf(fault);
    const all = sumOf(run);
    const last = sumOf(run.slice(-lastWindows(run, this.#leastRequests)));
    const isLarge = all.rate >= effect && last.rate >= effect;
    const isHalf = last.rate >= (effect + reference.rate) / 2;
    const { windows, requests, hits } = isLarge ? all : last;
    const first = run.find((each) => each.hits > 0) ?? run.at(-1);
    const startedAtMs = (first as ProportionCount).startMs;
    const ageMs = (run.at(-1) as ProportionCount).startMs + this.#options.window - startedAtMs;
    return {
      startedAtMs,
      windows,
      requests,
      hits,
      logP: -score,
      logAlpha: -level,
      dispersion: this.#dispersions[fault] as number,
      reference,
      opens: isLarge && score >= level && this.#mayOpen(fault, all, ageMs),
      suspicious: isHalf && score >= Math.max(suspiciousScore, level / 2),
    };
  }

  /**
   * Checks everything but significance and effect.
   *
   * @param ageMs time since the first hit.
   */
  #mayOpen(fault: number, run: Omit<ProportionCount, 'startMs'>, ageMs: number): boolean {
    const { min_baseline_windows } = this.#options;
    const learnt = this.#learnt + this.#inherited;
    const isMature = this.#isMature;
    if (learnt < Math.ceil(min_baseline_windows / 2) || run.hits < tuned.minHits) return false;
    if (!this.#isSample(run, ageMs)) return false;
    // Evidence that has stopped growing opens nothing.
    if (this.#evidence.last(fault) <= 0) return false;
    const { mature, young, fresh } = this.#minWindows;
    const isFresh = this.#knownMs < tuned.freshMs;
    const minWindows = !isMature ? young : isFresh ? fresh : mature;
    if (this.#evidence.gaining(fault) < minWindows) return false;
    return this.#evidence.rest(fault) >= tuned.confirmedScore;
  }

  /** Checks that there are enough requests to know their rate, or enough hits to know that it is another one. */
  #isSample({ requests, hits }: Omit<ProportionCount, 'startMs'>, ageMs: number): boolean {
    if (!this.#isMature) return requests >= this.#leastRequests;
    const { min_requests } = this.#options;
    const { part, afterMs } = tuned.manyHits;
    return requests >= min_requests || (hits >= part * min_requests && ageMs >= afterMs);
  }

  get #isMature(): boolean {
    const { requests, inheritedMs } = this.#known;
    return inheritedMs + this.#knownMs >= tuned.matureMs && requests >= tuned.matureRequests;
  }

  /** Requests of a young series' anomaly, and of the last windows, which must still show it. */
  get #leastRequests(): number {
    return tuned.minRequestsFactor * this.#options.min_requests;
  }
}

/** A minute, or more windows where they hold fewer than `least` requests. */
function lastWindows(run: readonly ProportionCount[], least: number): number {
  let requests = 0;
  let windows = 0;
  while (windows < run.length && (windows < quarantineWindows || requests < least)) {
    windows += 1;
    requests += (run.at(-windows) as ProportionCount).requests;
  }
  return windows;
}

function sumOf(counts: readonly ProportionCount[]) {
  let requests = 0;
  let hits = 0;
  for (const count of counts) {
    requests += count.requests;
    hits += count.hits;
  }
  return { windows: counts.length, requests, hits, rate: requests === 0 ? 0 : hits / requests };
}
