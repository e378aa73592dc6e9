import { totalStage } from '../base/dimensions.ts';
import { DailyEpisodes } from '../baseline/daily-episodes.ts';
import { DriftForecast } from '../baseline/drift-forecast.ts';
import type { StageSummary } from '../baseline/series-window.ts';
import type { StageReference } from '../baseline/stage-baseline.ts';
import type { StateArchive } from '../baseline/state-archive.ts';
import { type PeakPool, peakScore, TailPeaks } from '../baseline/tail-peaks.ts';
import type { DetectOptions } from './detect-options.ts';
import { EvidenceWeights } from './evidence-weights.ts';
import { type FaultTemplate, faultTemplates } from './fault-templates.ts';
import type { TestLevels } from './page-budget.ts';
import { quarantineWindows } from './quarantine-windows.ts';
import { TailCounts } from './tail-counts.ts';
import { type TailThreshold, tailThreshold } from './tail-threshold.ts';

/** What a test says of one window and those before it, where it is odd at all. */
export interface ShiftVerdict {
  readonly stage: string;
  /** The quantile that shows it, the baseline's value of it. */
  readonly q: number;
  readonly thresholdMs: number;
  /** Windows in a row that show it. */
  readonly windows: number;
  /** ln of the chance of so much evidence in a row of usual windows, at most; and what it must be. */
  readonly logP: number;
  readonly logLevel: number;
  /** Requests above the baseline's quantile in those windows, as many as usually are, and all. */
  readonly exceedances: number;
  readonly expected: number;
  readonly requests: number;
  readonly dispersion: number;
  readonly startedAtMs: number;
  /** Start of the first window of the evidence. */
  readonly sinceMs: number;
  /** Of the window that was judged. */
  readonly windowStartMs: number;
  readonly windowRequests: number;
  /** Clear enough, large enough and lasting enough to open an anomaly. */
  readonly opens: boolean;
  /** Odd enough not to be learnt. */
  readonly suspicious: boolean;
  /** Odd in this window alone: an open anomaly of the series goes on. */
  readonly loud: boolean;
  /** As much came at this time of the days before. */
  readonly recurs: boolean;
  /** There is more evidence than a minute ago: an open anomaly of the stage goes on. */
  readonly rising: boolean;
}

/** What is odd: one in a thousand by theory, and no test opens an anomaly on less. */
const oddScore = Math.log(1e3);
/** The dispersion remembers two days, at windows of 10 s; before any window, so many say that it is this. */
const dispersionWindows = 17_280;
const prior = { dispersion: 4, windows: 12 } as const;
/** A squared residual counts up to so many times the usual one: lone outliers say little of it. */
const mostOfUsual = 9;
/**
 * A single window opens an anomaly only when it is this much clearer, of the total, and of many requests:
 * ten seconds of a few very slow ones, or of a stage that nobody waited for, are not worth a night.
 */
const singleWindow = { score: Math.log(1e3), share: 0.3 } as const;
/** A stage that nobody waited for yet opens one in so many times `min_requests`; in fewer, if it is beyond doubt. */
const manyTimes = 3;
const fewerTimes = 2;
/** What must remain of the evidence when its clearest window is left out. */
const confirmedScore = Math.log(100);
/** Quantiles shown to people are those of at most so many windows. */
const shownWindows = quarantineWindows;
/**
 * Once so much of the series was learnt, windows of few requests are judged together, and a stage may open
 * an anomaly that does not last yet. It lasts in so many of the last six windows.
 */
const longKnownMs = 86_400_000;
const lastingWindows = 4;
/** So many times the level is beyond doubt. */
const beyondDoubt = 2;
/** Evidence of as many requests as the baseline has is its own noise by this part. */
const noiseOfBaseline = 2;
/** What has fallen below this part of its peak is over. */
const overShare = 0.6;
/** So is what has fallen by so much: what lasted for a day has a peak of thousands. */
const overFall = 60;
/** Evidence is compared with that of so many windows before. */
const risingWindows = 6;

const count = faultTemplates.length;

/** Windows since the evidence began, how much there is, and how much there must be. */
interface Found {
  readonly run: number;
  readonly score: number;
  readonly level: number;
}

/**
 * What is kept of each fault, side by side, as all of it is looked at in each window: the evidence so far, when it
 * began, its peak, its clearest window; what the last window said for it, and what beyond the usual; and the
 * variance of windows against that of independent requests.
 */
const SUM = 0;
const START = 1;
const HIGHEST = 2;
const CLEAREST = 3;
const LAST = 4;
const EXCESS_OF_LAST = 5;
const DISPERSION = 6;
const perFault = 8;

/** What a window says, before anything is taken off. */
const said = new Float64Array(count);

/** Of a window that waits to be learnt, in doubles: requests, score, what it says beyond the usual. */
const REQUESTS = 0;
const SCORE = 1;
const EXCESS = 2;
const waitingDoubles = EXCESS + count;
const waitingWindows = quarantineWindows + 2;

/**
 * Judges one stage of one series: do its requests look more like one of some faults than like its past?
 * For each fault the log-likelihood ratio of the requests is added up for as long as it is above 0 (CUSUM;
 * Page, "Continuous inspection schemes", 1954), so that one slow window and an hour of slightly slower ones
 * both tell, each as soon as can be. What is foretold of late (`DriftForecast`) is taken off, and the sum is
 * divided by the dispersion of the series. It must reach what the series' own past (`TailPeaks`,
 * `DailyEpisodes`) and the page budget ask for, and the tail must have moved by what matters to people
 * (`TailCounts`).
 *
 * Windows come in order; each is judged, and `settle`d once it is known whether it belongs to an anomaly.
 *
 * Memory: some 15 KB. Cost: a microsecond or two a window.
 */
export class ShiftTest {
  readonly #stage: string;
  readonly #options: DetectOptions;
  readonly #peaks: TailPeaks;
  readonly #episodes = new DailyEpisodes();
  readonly #drift = new DriftForecast(count);
  readonly #counts: TailCounts;
  #reference: StageReference | undefined;
  #weights: EvidenceWeights | undefined;
  /** Of the last weights: windows that were judged by them are learnt by them. */
  #variances: Float64Array | undefined;
  #thresholds: readonly TailThreshold[] = [];
  readonly #faults = new Float64Array(count * perFault);
  readonly #before = new Float64Array(risingWindows);
  readonly #waiting = new Float64Array(waitingWindows * waitingDoubles);
  readonly #waitingMs = new Float64Array(waitingWindows);
  #judged = 0;
  #settled = 0;
  #learnt = 0;
  /** Windows that a series before this one has learnt. */
  #known = 0;

  /** @param pool shared by all tests. */
  constructor(stage: string, options: DetectOptions, pool: PeakPool) {
    this.#stage = stage;
    this.#options = options;
    this.#peaks = new TailPeaks(options.window, pool);
    this.#counts = new TailCounts(options);
    for (let t = 0; t < count; t++) this.#put(t, DISPERSION, prior.dispersion);
  }

  /** undefined when nothing is odd about the window and those before it. */
  judge(
    startMs: number,
    summary: StageSummary,
    reference: StageReference,
    levels: TestLevels,
  ): ShiftVerdict | undefined {
    const weights = this.#compareWith(reference);
    this.#counts.add(startMs, summary, this.#thresholds);
    const fault = this.#addUp(startMs, summary, weights);
    const run = this.#counts.windowsSince(this.#of(fault, START));
    const score = this.#scoreOf(fault, run, reference);
    const place = this.#judged % risingWindows;
    const rising = score > (this.#before[place] as number);
    this.#before[place] = score;
    this.#episodes.take(startMs, score);
    const before = score < peakScore ? 0 : this.#episodes.level(startMs);
    // How far it goes that is known to come at this time of day is of no interest.
    this.#await(startMs, summary.requests, score > before ? score : 0);
    if (score < peakScore) return undefined;
    const peaks = this.#peaks.level(levels.perWeek, this.#drift.wandering);
    const level = Math.max(oddScore, peaks, before);
    return {
      ...this.#verdict(startMs, fault, { run, score, level }),
      rising,
      recurs: score < before,
    };
  }

  /** What the last verdict says at another quantile; undefined for one that is not judged. */
  atQuantile(verdict: ShiftVerdict, q: number): ShiftVerdict | undefined {
    const quantile = this.#options.quantiles.indexOf(q);
    if (quantile < 0) return undefined;
    const { usualMs } = this.#thresholds[quantile] as TailThreshold;
    const sums = this.#counts.sums(quantile, verdict.windows);
    return { ...verdict, q, thresholdMs: usualMs, ...sums };
  }

  /** Takes the window that began then, if it was judged, out of quarantine; and learns from it. */
  settle(startMs: number, isLearnt: boolean): void {
    if (this.#settled === this.#judged) return;
    const place = this.#settled % waitingWindows;
    if (this.#waitingMs[place] !== startMs) return;
    this.#settled += 1;
    if (!isLearnt) {
      this.#peaks.forgetPeak();
      return;
    }
    this.#learnt += 1;
    const from = place * waitingDoubles;
    const requests = this.#waiting[from + REQUESTS] as number;
    this.#peaks.learn(this.#waiting[from + SCORE] as number);
    const variances = this.#variances;
    if (variances === undefined || requests === 0) return;
    const seen = this.#learnt + this.#known;
    const weight = 1 / (Math.min(seen, dispersionWindows) + prior.windows);
    const completesBlock = this.#drift.take(requests, this.#waiting, from + EXCESS);
    for (let t = 0; t < count; t++) {
      const excess = this.#waiting[from + EXCESS + t] as number;
      this.#learnDispersion(t, weight, excess * excess, requests * (variances[t] as number));
    }
    if (!completesBlock) return;
    this.#drift.follow((t) => (variances[t] as number) * this.#of(t, DISPERSION));
  }

  /**
   * Takes over what is known of the same stage of another series, which this one has come to replace: how
   * restless it is and how far it goes, not how long it takes.
   */
  inherit(other: ShiftTest): void {
    this.#peaks.inherit(other.#peaks);
    this.#drift.inherit(other.#drift);
    for (let t = 0; t < count; t++) this.#put(t, DISPERSION, other.#of(t, DISPERSION));
    this.#known = other.#learnt + other.#known;
  }

  /** Forgets the evidence, not the past: what it said has been dealt with. */
  forgetRun(): void {
    this.#endAll();
    this.#before.fill(0);
    this.#peaks.forgetPeak();
  }

  /** Starts anew against another baseline. What is known of its restlessness stays. */
  rebase(): void {
    this.forgetRun();
    this.#drift.forget();
    this.#settled = this.#judged;
  }

  /** All but what is made anew of the baseline, and the pool, which is shared. */
  carry(state: StateArchive): void {
    state.section('shift test', 2, () => {
      this.#peaks.carry(state);
      this.#episodes.carry(state);
      this.#drift.carry(state);
      this.#counts.carry(state);
      this.#variances = state.optional(this.#variances, (variances) =>
        state.numbers(variances ?? []),
      );
      state.fill(this.#faults);
      state.fill(this.#before);
      state.fill(this.#waiting);
      state.fill(this.#waitingMs);
      this.#judged = state.number(this.#judged);
      this.#settled = state.number(this.#settled);
      this.#learnt = state.number(this.#learnt);
      this.#known = state.number(this.#known);
    });
  }

  #compareWith(reference: StageReference): EvidenceWeights {
    if (reference !== this.#reference || this.#weights === undefined) {
      const { digest } = reference;
      this.#reference = reference;
      if (this.#weights === undefined) this.#weights = new EvidenceWeights(digest);
      else this.#weights.renew(digest);
      this.#variances = this.#weights.variances;
      this.#thresholds = this.#options.quantiles.map((q) =>
        tailThreshold(digest, q, this.#options),
      );
    }
    return this.#weights;
  }

  /** Adds a window to the evidence for each fault; which one there is most for. */
  #addUp(startMs: number, { requests, digest }: StageSummary, weights: EvidenceWeights): number {
    const faults = this.#faults;
    const drift = this.#drift;
    const { means } = weights;
    weights.weigh(digest, said);
    for (let t = 0; t < count; t++) {
      const at = t * perFault;
      const of = said[t] as number;
      const foretold = requests * Math.max(0, drift.level(t));
      const restless = (faults[at + DISPERSION] as number) * drift.spread(t);
      const gain = (of - foretold) / restless;
      const before = faults[at + SUM] as number;
      if (before <= 0) {
        faults[at + START] = startMs;
        faults[at + CLEAREST] = 0;
        faults[at + HIGHEST] = 0;
      }
      const sum = before + gain;
      faults[at + SUM] = Math.max(0, sum);
      if (sum > (faults[at + HIGHEST] as number)) faults[at + HIGHEST] = sum;
      if (gain > (faults[at + CLEAREST] as number)) faults[at + CLEAREST] = gain;
      faults[at + LAST] = gain;
      faults[at + EXCESS_OF_LAST] = of - requests * (means[t] as number);
    }
    this.#endWhatIsOver();
    let most = 0;
    // Of two that say the same, that of more requests.
    for (let t = 1; t < count; t++) if (this.#of(t, SUM) >= this.#of(most, SUM)) most = t;
    return most;
  }

  /**
   * Evidence that has fallen far from where it was is of something that is over: it counts no more. If it was
   * the clearest, no more does what it left for other faults.
   */
  #endWhatIsOver(): void {
    let clearest = 0;
    for (let t = 1; t < count; t++) {
      if (this.#of(t, HIGHEST) > this.#of(clearest, HIGHEST)) clearest = t;
    }
    if (this.#of(clearest, HIGHEST) <= peakScore) return;
    if (this.#isOver(clearest)) this.#endAll();
    else for (let t = 0; t < count; t++) if (this.#isOver(t)) this.#put(t, SUM, 0);
  }

  #isOver(t: number): boolean {
    const highest = this.#of(t, HIGHEST);
    const least = Math.max(overShare * highest, highest - overFall);
    return highest > peakScore && this.#of(t, SUM) < least;
  }

  #endAll(): void {
    for (let t = 0; t < count; t++) this.#put(t, SUM, 0);
  }

  #of(fault: number, field: number): number {
    return this.#faults[fault * perFault + field] as number;
  }

  #put(fault: number, field: number, value: number): void {
    this.#faults[fault * perFault + field] = value;
  }

  /** The evidence for a fault, less what the baseline's own noise may have made of it. */
  #scoreOf(fault: number, run: number, { digest }: StageReference): number {
    const { requests } = this.#counts.sums(0, run);
    return this.#of(fault, SUM) / (1 + (noiseOfBaseline * requests) / digest.count);
  }

  #await(startMs: number, requests: number, score: number): void {
    const place = this.#judged % waitingWindows;
    const from = place * waitingDoubles;
    this.#waitingMs[place] = startMs;
    this.#waiting[from + REQUESTS] = requests;
    this.#waiting[from + SCORE] = score;
    for (let t = 0; t < count; t++) {
      this.#waiting[from + EXCESS + t] = this.#of(t, EXCESS_OF_LAST);
    }
    this.#judged += 1;
  }

  #learnDispersion(t: number, weight: number, square: number, variance: number): void {
    if (variance <= 0) return;
    const usual = this.#of(t, DISPERSION);
    const seen = Math.min(square / variance, mostOfUsual * usual);
    this.#put(t, DISPERSION, Math.max(1, usual + weight * (seen - usual)));
  }

  #verdict(startMs: number, fault: number, { run, score, level }: Found) {
    const counts = this.#counts;
    const effect = counts.effect(run, shownWindows);
    const windows = effect?.windows ?? Math.min(run, shownWindows);
    const quantile = effect?.quantile ?? 0;
    const { usualMs } = this.#thresholds[quantile] as TailThreshold;
    const isOdd = score >= Math.max(oddScore, level / 2);
    return {
      stage: this.#stage,
      q: this.#options.quantiles[quantile] as number,
      thresholdMs: usualMs,
      windows,
      logP: -score,
      logLevel: -level,
      ...counts.sums(quantile, windows),
      dispersion: this.#of(fault, DISPERSION),
      startedAtMs: counts.startOfExcess(quantile, run),
      sinceMs: this.#of(fault, START),
      windowStartMs: startMs,
      windowRequests: counts.sums(quantile, 1).requests,
      opens: effect !== undefined && score >= level && this.#mayOpen(fault, score, level, windows),
      suspicious: isOdd && counts.showsHalf(Math.min(run, shownWindows)),
      loud: this.#of(fault, LAST) >= oddScore && counts.showsHalf(1),
    };
  }

  /** Everything but significance and effect. */
  #mayOpen(fault: number, score: number, level: number, windows: number): boolean {
    const { min_baseline_windows, min_requests } = this.#options;
    const leastLearnt = Math.ceil(min_baseline_windows / 2);
    // What is over is not told any more.
    if (this.#of(fault, LAST) <= 0) return false;
    if (this.#learnt < Math.max(leastLearnt, 4 * Math.min(windows, shownWindows))) return false;
    const { requests } = this.#counts.sums(0, windows);
    const isTotal = this.#stage === totalStage;
    const times = score >= beyondDoubt * level ? fewerTimes : manyTimes;
    if (requests < (isTotal ? 1 : times) * min_requests) return false;
    const isMany = requests >= manyTimes * min_requests;
    const isEnough = requests >= manyTimes * min_requests * windows;
    if (!this.#isKnown && !(isMany && this.#isPlain(isEnough, score, level))) return false;
    const rest = this.#of(fault, SUM) - this.#of(fault, CLEAREST);
    if (windows > 1 && rest >= confirmedScore) return true;
    const { share } = faultTemplates[fault] as FaultTemplate;
    return isTotal && score - level >= singleWindow.score && share >= singleWindow.share;
  }

  /** Whether the series, or the one that it came after, was learnt for a day. */
  get #isKnown(): boolean {
    return (this.#learnt + this.#known) * this.#options.window >= longKnownMs;
  }

  /**
   * Some bursts are rare, short, and hit all requests of their seconds: it takes a day to know them. Until then
   * the total must show it for a while or beyond all doubt, and a stage for a while, in many requests.
   */
  #isPlain(isEnough: boolean, score: number, level: number): boolean {
    const isLasting = this.#counts.lasting(shownWindows) >= lastingWindows;
    if (this.#stage !== totalStage) return isEnough && isLasting;
    return isLasting || (isEnough && score >= beyondDoubt * level);
  }
}
