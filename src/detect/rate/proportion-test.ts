import type { RateReference } from '../../baseline/rate-baseline.ts';
import { DailyRecurrence } from '../../baseline/recurrence/daily-recurrence.ts';
import { Arena } from '../../memory/arena.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import { type DetectOptions, quarantineWindows } from '../options/detect-options.ts';
import type { TestLevels } from '../options/page-budget.ts';
import { BurstHistory } from '../score/burst-history.ts';
import { Cusum } from '../score/cusum.ts';
import { LocalLevel } from '../score/local-level.ts';
import type { PeakPool } from '../score/peak-pool.ts';
import { PeaksOverThreshold, peakScore } from '../score/peaks-over-threshold.ts';
import { JudgedWindows, type ProportionCount } from './judged-windows.ts';
import { type LeastRise, ProportionWeights } from './proportion-weights.ts';

const memory = Arena.shared();

/** What the test says of one window and those before it, where it is odd at all. */
export interface ProportionVerdict {
  readonly startedAtMs: number;
  readonly windows: number;
  readonly requests: number;
  readonly hits: number;
  readonly logP: number;
  readonly logLevel: number;
  readonly dispersion: number;
  readonly reference: RateReference;
  /** Clear enough, large enough and lasting enough to open an anomaly. */
  readonly opens: boolean;
  /** Odd enough not to be learnt. */
  readonly suspicious: boolean;
}

const oddScore = Math.log(1e3);
/** What must remain of the evidence when its clearest window is left out. */
const confirmedScore = Math.log(100);
/** The dispersion remembers two days, at windows of 10 s; before any window, so many say that it is this. */
const dispersionWindows = 17_280;
const prior = { dispersion: 4, windows: 12 } as const;
const maxVarianceRatio = 9;
/** Evidence of as many requests as the baseline has is its own noise by this part. */
const noiseOfBaseline = 2;
/** Fewer of them say nothing. */
const fewestHits = 5;
/** Windows that must speak for a fault before anybody is told. */
export interface LastingWindows {
  /** In a series, or one that it came after, of which a day was learnt; and before. */
  readonly known: number;
  readonly young: number;
  /** In the first hour of a series, whatever it came after. */
  readonly fresh: number;
}

const freshMs = 3_600_000;
/**
 * So much of a series is learnt, or of the version before, when it is known; until then it takes more
 * requests.
 */
const longKnownMs = 86_400_000;
const manyTimes = 3;

const faults = ProportionWeights.faults;

/** What is kept in `StateMemory`, in doubles: dispersions of the faults, and the parts that this is made of. */
const PEAKS = faults;
const EVIDENCE = PEAKS + PeaksOverThreshold.doubles;
const DRIFT = EVIDENCE + Cusum.doubles(faults);
const WEIGHTS = DRIFT + LocalLevel.doubles(faults);
const doubles = WEIGHTS + ProportionWeights.doubles;

/** Evidence below this is no episode's, unless one goes on. */
const leastEpisode = Math.min(DailyRecurrence.leastScore, BurstHistory.leastScore);

/** Scratch: what a window adds for each fault, and what of that is more than usual. */
const gains = new Float64Array(faults);
const excess = new Float64Array(faults);

/**
 * Judges whether more requests of a series are of some sort (fail, say) than its own past foretells: `ShiftTest`, of
 * a count. The
 * log-likelihood ratio of some higher rates is added up for as long as it is above 0, less what is
 * foretold of late, over the series' own dispersion, and must reach what the series' own peaks and the
 * page budget ask for.
 *
 * Memory: some 3 KB; what each window needs, 0.7 KB, is side by side. Cost: some 100 ns a window.
 */
export class ProportionTest {
  readonly #options: DetectOptions;
  readonly #least: LeastRise;
  readonly #lasting: LastingWindows;
  readonly #peaks: PeaksOverThreshold;
  readonly #daily = new DailyRecurrence();
  readonly #short = new BurstHistory();
  /** Whether either of these has an episode that goes on. */
  #hasEpisode = false;
  readonly #at = memory.allocateFor(this, doubles);
  readonly #drift = new LocalLevel(faults, this.#at + DRIFT);
  readonly #evidence = new Cusum(faults, peakScore, this.#at + EVIDENCE);
  readonly #weights = new ProportionWeights(this.#at + WEIGHTS);
  #reference: RateReference | undefined;
  readonly #windows = new JudgedWindows();
  #learnt = 0;
  #known = 0;

  /**
   * @param least rise that matters.
   * @param lasting for so long.
   * @param pool shared by all tests of this sort.
   */
  constructor(options: DetectOptions, least: LeastRise, lasting: LastingWindows, pool: PeakPool) {
    this.#options = options;
    this.#least = least;
    this.#lasting = lasting;
    this.#peaks = new PeaksOverThreshold(options.window, pool, this.#at + PEAKS);
    this.#dispersions.fill(prior.dispersion);
  }

  /** undefined when nothing is odd about the window and those before it. */
  evaluate(
    startMs: number,
    requests: number,
    hits: number,
    reference: RateReference,
    levels: TestLevels,
  ): ProportionVerdict | undefined {
    this.#compareWith(reference);
    this.#windows.add(startMs, requests, hits);
    const fault = this.#addUp(startMs, requests, hits);
    const score = this.#scoreOf(fault, reference);
    const varianceInflation = this.#varianceInflation(fault);
    this.#takeEpisodes(startMs, fault, score);
    const before = score < peakScore ? 0 : this.#knownLevel(startMs, varianceInflation);
    // How far it goes that is known to come is of no interest.
    if (score > before) this.#windows.score(score);
    if (score < peakScore) return undefined;
    const level = Math.max(oddScore, this.#peaks.level(levels.perWeek), before);
    return this.#verdict(fault, { score, level, reference });
  }

  #takeEpisodes(startMs: number, fault: number, score: number): void {
    const sum = this.#evidence.sum(fault);
    if (sum < leastEpisode && !this.#hasEpisode) return;
    const sinceMs = this.#evidence.startMs(fault);
    this.#daily.observe(startMs, sum, this.#varianceInflation(fault), sinceMs);
    this.#short.observe(startMs, score);
    this.#hasEpisode = this.#daily.goesOn || this.#short.goesOn;
  }

  #knownLevel(startMs: number, varianceInflation: number): number {
    return Math.max(this.#daily.level(startMs, varianceInflation), this.#short.level(startMs));
  }

  /** Takes a window, once it is known whether it belongs to an anomaly; and learns from it, if it was judged. */
  learn(startMs: number, isLearnt: boolean): void {
    const settled = this.#windows.release(startMs);
    if (settled === undefined) return;
    if (!isLearnt) {
      this.#peaks.forgetPeak();
      return;
    }
    this.#learnt += 1;
    this.#peaks.learn(this.#windows.scoreOf(settled));
    const requests = this.#windows.requestsOf(settled);
    if (this.#reference === undefined || requests === 0) return;
    const hits = this.#windows.hitsOf(settled);
    const weights = this.#weights;
    const all = memory.doubles;
    const at = this.#at;
    const weight = 1 / (Math.min(this.#learnt + this.#known, dispersionWindows) + prior.windows);
    for (let i = 0; i < faults; i++) {
      const beyond = weights.scoreOf(i, requests, hits) - requests * weights.mean(i);
      excess[i] = beyond;
      const variance = requests * weights.variance(i);
      if (variance <= 0) continue;
      const baseline = all[at + i] as number;
      const square = Math.min(beyond ** 2 / variance, maxVarianceRatio * baseline);
      all[at + i] = Math.max(1, baseline + weight * (square - baseline));
    }
    if (!this.#drift.observe(requests, excess)) return;
    this.#drift.update((i) => weights.variance(i) * (all[at + i] as number));
  }

  /** Takes over what is known of another series, which this one has come to replace. */
  inherit(other: ProportionTest): void {
    this.#peaks.inherit(other.#peaks);
    this.#drift.inherit(other.#drift);
    this.#dispersions.set(other.#dispersions);
    this.#known = other.#learnt + other.#known;
  }

  /** Forgets the evidence, not the past: what it said has been dealt with. */
  forgetRun(): void {
    this.#evidence.forget();
    this.#peaks.forgetPeak();
  }

  /** Starts anew against another baseline. What is known of its restlessness stays. */
  rebase(): void {
    this.forgetRun();
    this.#drift.forget();
  }

  /** All but what is made anew of the baseline, and the pool, which is shared. */
  serialize(state: StateArchive): void {
    state.section('proportion test', 1, () => {
      this.#peaks.serialize(state);
      this.#daily.serialize(state);
      this.#short.serialize(state);
      this.#drift.serialize(state);
      this.#evidence.serialize(state);
      state.fill(this.#dispersions);
      this.#windows.serialize(state);
      this.#learnt = state.number(this.#learnt);
      this.#known = state.number(this.#known);
    });
    this.#hasEpisode = this.#daily.goesOn || this.#short.goesOn;
  }

  /** A view, for as long as the memory does not grow. */
  get #dispersions(): Float64Array {
    return memory.doubles.subarray(this.#at, this.#at + faults);
  }

  #compareWith(reference: RateReference): void {
    if (reference === this.#reference) return;
    this.#reference = reference;
    this.#weights.renew(reference, this.#least);
  }

  #addUp(startMs: number, requests: number, hits: number): number {
    const weights = this.#weights;
    for (let i = 0; i < faults; i++) {
      const predicted = requests * Math.max(0, this.#drift.level(i));
      const score = weights.scoreOf(i, requests, hits);
      gains[i] = (score - predicted) / this.#varianceInflation(i);
    }
    return this.#evidence.add(startMs, gains);
  }

  /** What the evidence for a fault is divided by: the dispersion, and how much its level varies. */
  #varianceInflation(fault: number): number {
    return (memory.doubles[this.#at + fault] as number) * this.#drift.spread(fault);
  }

  /** The evidence for a fault, less what the baseline's own noise may have made of it. */
  #scoreOf(fault: number, reference: RateReference): number {
    const sum = this.#evidence.sum(fault);
    if (sum < peakScore) return sum;
    const requests = sumOf(this.#run(fault), (each) => each.requests);
    return sum / (1 + (noiseOfBaseline * requests) / reference.requests);
  }

  /** The windows since the evidence for a fault began, at least one. */
  #run(fault: number): readonly ProportionCount[] {
    return this.#windows.since(this.#evidence.startMs(fault));
  }

  #verdict(fault: number, { score, level, reference }: Found): ProportionVerdict {
    const { effect } = this.#weights;
    // It must matter over all windows since it began, and still do in the last ones.
    const run = this.#run(fault);
    const newest = run.at(-1) as ProportionCount;
    const last = run.slice(-lastWindows(run, manyTimes * this.#options.min_requests));
    const isLarge = rateOf(run) >= effect && rateOf(last) >= effect;
    const isHalf = rateOf(last) >= (effect + reference.rate) / 2;
    const shown = isLarge ? run : last;
    return {
      startedAtMs: (run.find(({ hits }) => hits > 0) ?? newest).startMs,
      windows: shown.length,
      requests: sumOf(shown, (each) => each.requests),
      hits: sumOf(shown, (each) => each.hits),
      logP: -score,
      logLevel: -level,
      dispersion: this.#dispersions[fault] as number,
      reference,
      opens: isLarge && score >= level && this.#mayOpen(fault, run),
      suspicious: isHalf && score >= Math.max(oddScore, level / 2),
    };
  }

  /** Everything but significance and effect. */
  #mayOpen(fault: number, run: readonly ProportionCount[]): boolean {
    const { min_baseline_windows, min_requests, window } = this.#options;
    const isKnown = (this.#learnt + this.#known) * window >= longKnownMs;
    if (this.#learnt + this.#known < Math.ceil(min_baseline_windows / 2)) return false;
    if (sumOf(run, ({ hits }) => hits) < fewestHits) return false;
    const least = (isKnown ? 1 : manyTimes) * min_requests;
    if (sumOf(run, ({ requests }) => requests) < least) return false;
    // What is over is not told any more.
    if (this.#evidence.last(fault) <= 0) return false;
    const { known, young, fresh } = this.#lasting;
    const isFresh = this.#learnt * window < freshMs;
    const lasting = !isKnown ? young : isFresh ? fresh : known;
    return this.#evidence.gaining(fault) >= lasting && this.#evidence.rest(fault) >= confirmedScore;
  }
}

interface Found {
  readonly score: number;
  readonly level: number;
  readonly reference: RateReference;
}

/** A minute, or as many windows as hold so many requests. */
function lastWindows(run: readonly ProportionCount[], least: number): number {
  let requests = 0;
  let windows = 0;
  while (windows < run.length && (windows < quarantineWindows || requests < least)) {
    windows += 1;
    requests += (run.at(-windows) as ProportionCount).requests;
  }
  return windows;
}

function sumOf(counts: readonly ProportionCount[], of: (count: ProportionCount) => number): number {
  let sum = 0;
  for (const count of counts) sum += of(count);
  return sum;
}

function rateOf(counts: readonly ProportionCount[]): number {
  const requests = sumOf(counts, (each) => each.requests);
  return requests === 0 ? 0 : sumOf(counts, (each) => each.hits) / requests;
}
