import { totalStage } from '../base/dimensions.ts';
import { ExceedancePast } from '../baseline/exceedance-past.ts';
import type { StageSummary } from '../baseline/series-window.ts';
import type { StageReference } from '../baseline/stage-baseline.ts';
import { type PeakPool, peakScore, TailPeaks } from '../baseline/tail-peaks.ts';
import type { DetectOptions } from './detect-options.ts';
import { logExceedanceTail } from './exceedance-tail.ts';
import { horizons, longestHorizon } from './horizons.ts';
import type { TestLevels } from './page-budget.ts';
import { quarantineWindows } from './quarantine-windows.ts';
import { type TailThreshold, tailThreshold } from './tail-threshold.ts';

/** What one test says of one window and those before it, where it is odd at all. */
export interface TailVerdict {
  readonly stage: string;
  readonly q: number;
  /** The baseline's quantile, and what exceedances are above. */
  readonly thresholdMs: number;
  readonly aboveMs: number;
  /** Of the horizon that is clearest against its level. */
  readonly windows: number;
  readonly logP: number;
  readonly logLevel: number;
  readonly exceedances: number;
  readonly expected: number;
  readonly requests: number;
  readonly dispersion: number;
  readonly startedAtMs: number;
  /** Of the window that was judged, not of its horizon. */
  readonly windowStartMs: number;
  readonly windowRequests: number;
  /** Clear enough, large enough and lasting enough to open an anomaly. */
  readonly opens: boolean;
  /** Odd enough over some horizon not to be learnt. */
  readonly suspicious: boolean;
  /** Odd in this window alone: an open anomaly of the series goes on. */
  readonly loud: boolean;
}

const logSuspicious = Math.log(1e-3);
/** No test opens an anomaly on less, whatever the budget. */
const leastLevel = Math.log(1e3);
/**
 * A single window opens one only when it is this much clearer, and by a quantile of the total: ten
 * seconds of a few very slow requests, or of a stage that nobody waited for, are not worth a night.
 */
const singleWindowLevel = Math.log(1e3);
/** What must remain of a run when its clearest window is left out. */
const logConfirmed = Math.log(1e-2);
/** Deviations above what is foretold at which a look at the exact tail begins. */
const leastDeviations = 2;
/** With fewer requests in the tail usually, or exceedances seen, no number says anything. */
const minInTail = 1;
const minExceedances = 5;
/** Quantiles shown to people are those of at most so many windows. */
const shownWindows = 6;

/**
 * Once so much of the series was learnt, windows of fewer than `min_requests` are judged together, and
 * a stage may open an anomaly that does not last yet. It lasts in so many of the last six windows.
 */
const longKnownMs = 86_400_000;
const lastingWindows = 4;

/** Windows that are kept: a run of the longest horizon, those in quarantine, and the one before. */
const kept = longestHorizon + quarantineWindows + 1;
/**
 * What is kept of a window, in doubles. Counts are sums of all windows up to it, so that those of any
 * run are a difference.
 */
const REQUESTS = 0;
const EXCEEDANCES = 1;
const EXPECTED = 2;
/** Requests above what the quantile must reach to matter, and to matter half as much. */
const BEYOND_EFFECT = 3;
const BEYOND_HALF = 4;
/** Requests that are usually above the quantile, whatever is counted. */
const IN_TAIL = 5;
const COUNTS = 6;
const START_MS = 6;
/** 1 once the window has been learnt. */
const LEARNT = 7;
const PER_HORIZON = 8;
/** Of a horizon: requests, squared residual, score. */
const HORIZON_DOUBLES = 3;
const WINDOW_DOUBLES = PER_HORIZON + HORIZON_DOUBLES * horizons.length;

/** A horizon's part of a verdict. */
type Found = Pick<
  TailVerdict,
  | 'windows'
  | 'logP'
  | 'logLevel'
  | 'exceedances'
  | 'expected'
  | 'requests'
  | 'dispersion'
  | 'startedAtMs'
  | 'opens'
>;

/** What is counted: requests above the baseline's quantile, or above what it must reach to matter. */
export const reaches = ['quantile', 'effect'] as const;
export type Reach = (typeof reaches)[number];

/**
 * Judges one quantile of one stage of one series: are there more requests above the baseline's
 * quantile, or far above it, than its own past foretells, by more than it ever strays? The quantile
 * itself shows a shift of many requests, what lies far above it a few that are very slow. Windows come
 * in order; each is judged, and `settle`d once it is known whether it belongs to an anomaly.
 *
 * Memory: 37 windows of 20 doubles, and what ExceedancePast keeps for each horizon. Nothing is
 * allocated while nothing is odd.
 */
export class TailTest {
  readonly #stage: string;
  readonly #q: number;
  readonly #reach: Reach;
  readonly #options: DetectOptions;
  readonly #pasts: readonly ExceedancePast[];
  readonly #windows = new Float64Array(kept * WINDOW_DOUBLES);
  /** Windows judged, settled, and learnt so far; and how many of the last ones make a run. */
  #judged = 0;
  #settled = 0;
  #learnt = 0;
  #run = 0;
  #reference: StageReference | undefined;
  #threshold: TailThreshold | undefined;

  /** @param pools one a horizon, shared by all tests. */
  constructor(
    stage: string,
    q: number,
    reach: Reach,
    options: DetectOptions,
    pools: readonly PeakPool[],
  ) {
    this.#stage = stage;
    this.#q = q;
    this.#reach = reach;
    this.#options = options;
    this.#pasts = horizons.map((windows, i) => {
      const peaks = new TailPeaks(windows, options.window, pools[i] as PeakPool);
      return new ExceedancePast(windows, peaks);
    });
  }

  /** undefined when nothing is odd about the window and those before it. */
  judge(
    startMs: number,
    summary: StageSummary,
    reference: StageReference,
    levels: TestLevels,
  ): TailVerdict | undefined {
    const threshold = this.#thresholdOf(reference);
    const at = this.#count(startMs, summary, threshold);
    let verdict: Found | undefined;
    let suspicious = false;
    let loud = false;
    for (let horizon = 0; horizon < horizons.length; horizon++) {
      const windows = horizons[horizon] as number;
      if (!this.#isRun(windows, startMs)) break;
      const requests = this.#sum(windows, REQUESTS);
      const exceedances = this.#sum(windows, EXCEEDANCES);
      const expected = this.#sum(windows, EXPECTED);
      const past = this.#pasts[horizon] as ExceedancePast;
      const mean = expected * past.rate;
      const dispersion = past.dispersion(requests);
      const variance = mean * (1 - Math.min(0.999, mean / requests));
      const excess = exceedances - mean;
      const square = variance > 0 ? (excess * excess) / variance : 0;
      let logP = 0;
      if (excess > 0 && square > leastDeviations * leastDeviations * dispersion) {
        logP = logTailOf(exceedances, requests, mean, dispersion);
      }
      this.#note(at, horizon, requests, square, -logP);
      if (logP > -peakScore) continue;
      const isHalf = this.#sum(windows, BEYOND_HALF) >= this.#sum(windows, IN_TAIL);
      const odd = logP <= logSuspicious && isHalf;
      suspicious ||= odd;
      loud ||= odd && windows === 1;
      const own = Math.max(leastLevel, past.peaks.level(levels.perWeek, startMs));
      const logLevel = -(windows === 1 ? own + singleWindowLevel : own);
      const opens =
        logP <= logLevel &&
        this.#mayOpen(windows) &&
        (windows === 1
          ? this.#reach === 'quantile' && this.#stage === totalStage
          : this.#isConfirmed(windows, mean, dispersion));
      const isClearer = verdict === undefined || logP - logLevel < verdict.logP - verdict.logLevel;
      if (verdict === undefined || (opens === verdict.opens ? isClearer : opens)) {
        const startedAtMs = this.#startOfExcess(windows);
        const found = { requests, exceedances, expected: mean, dispersion, startedAtMs };
        verdict = { ...found, windows, logP, logLevel, opens };
      }
    }
    if (verdict === undefined) return undefined;
    return {
      stage: this.#stage,
      q: this.#q,
      thresholdMs: threshold.usualMs,
      aboveMs: this.#reach === 'effect' ? threshold.effectMs : threshold.usualMs,
      windowStartMs: startMs,
      windowRequests: summary.requests,
      suspicious,
      loud,
      ...verdict,
    };
  }

  /** Takes the window that began then, if it was judged, out of quarantine; and learns from it. */
  settle(startMs: number, isLearnt: boolean): void {
    if (this.#settled === this.#judged) return;
    const at = placeOf(this.#settled);
    const windows = this.#windows;
    if (windows[at + START_MS] !== startMs) return;
    if (isLearnt) {
      windows[at + LEARNT] = 1;
      this.#learnt += 1;
    }
    for (let horizon = 0; horizon < horizons.length; horizon++) {
      const past = this.#pasts[horizon] as ExceedancePast;
      // No horizon's forecast knows of windows that are in its run.
      const late = Math.max(0, (horizons[horizon] as number) - quarantineWindows);
      const due = this.#settled - late;
      if (due >= 0 && windows[placeOf(due) + LEARNT] === 1) {
        const back = this.#judged - 1 - due;
        past.forecast(this.#of(back, EXCEEDANCES), this.#of(back, EXPECTED));
      }
      const from = at + PER_HORIZON + horizon * HORIZON_DOUBLES;
      const requests = windows[from] as number;
      const score = windows[from + 2] as number;
      past.peaks.remember(startMs, score);
      if (!isLearnt) past.peaks.forgetPeak();
      else if (requests > 0) past.learn(requests, windows[from + 1] as number, score);
    }
    this.#settled += 1;
  }

  /** Forgets the running windows, not the past: what they said has been dealt with. */
  forgetRun(): void {
    this.#run = 0;
  }

  /** Starts anew against another baseline. What is known of its restlessness stays. */
  rebase(): void {
    this.#run = 0;
    for (const past of this.#pasts) past.forgetRate();
    for (let n = Math.max(0, this.#judged - kept); n < this.#judged; n++) {
      this.#windows[placeOf(n) + LEARNT] = 0;
    }
  }

  #thresholdOf(reference: StageReference): TailThreshold {
    if (reference !== this.#reference || this.#threshold === undefined) {
      this.#reference = reference;
      this.#threshold = tailThreshold(reference.digest, this.#q, this.#options);
    }
    return this.#threshold;
  }

  /** Keeps what a window has above the thresholds; returns its place. */
  #count(startMs: number, { requests, digest }: StageSummary, threshold: TailThreshold): number {
    const at = placeOf(this.#judged);
    const before = placeOf(this.#judged + kept - 1);
    const windows = this.#windows;
    const beyondEffect = requests * (1 - digest.cdf(threshold.effectMs));
    const inTail = requests * threshold.usualShare;
    const isEffect = this.#reach === 'effect';
    windows[at + REQUESTS] = requests;
    windows[at + EXCEEDANCES] = isEffect
      ? beyondEffect
      : requests * (1 - digest.cdf(threshold.usualMs));
    windows[at + EXPECTED] = isEffect ? requests * threshold.effectShare : inTail;
    windows[at + BEYOND_EFFECT] = beyondEffect;
    windows[at + BEYOND_HALF] = requests * (1 - digest.cdf(threshold.halfEffectMs));
    windows[at + IN_TAIL] = inTail;
    for (let i = 0; i < COUNTS; i++) {
      windows[at + i] = (windows[at + i] as number) + (windows[before + i] as number);
    }
    windows[at + START_MS] = startMs;
    windows.fill(0, at + LEARNT, at + WINDOW_DOUBLES);
    this.#judged += 1;
    this.#run = Math.min(longestHorizon, this.#run + 1);
    return at;
  }

  /** Of the last so many windows together. */
  #sum(windows: number, count: number): number {
    const last = placeOf(this.#judged + kept - 1);
    const before = placeOf(this.#judged + kept - 1 - windows);
    return (this.#windows[last + count] as number) - (this.#windows[before + count] as number);
  }

  /** Of the window `back` before the last one. */
  #of(back: number, count: number): number {
    return this.#sum(back + 1, count) - this.#sum(back, count);
  }

  #note(at: number, horizon: number, requests: number, square: number, score: number): void {
    const from = at + PER_HORIZON + horizon * HORIZON_DOUBLES;
    this.#windows[from] = requests;
    this.#windows[from + 1] = square;
    this.#windows[from + 2] = score;
  }

  /** Start of the first of the last windows that had more than is usual. */
  #startOfExcess(windows: number): number {
    let back = windows - 1;
    while (back > 0 && this.#of(back, EXCEEDANCES) <= this.#of(back, EXPECTED)) back--;
    return this.#windows[placeOf(this.#judged - 1 - back) + START_MS] as number;
  }

  /** Whether the last windows are as many, and not too far apart. */
  #isRun(windows: number, nowMs: number): boolean {
    if (this.#run < windows) return false;
    const firstMs = this.#windows[placeOf(this.#judged - windows) + START_MS] as number;
    return nowMs - firstMs <= 2 * windows * this.#options.window;
  }

  /** Everything but significance. */
  #mayOpen(windows: number): boolean {
    const { min_baseline_windows, min_requests } = this.#options;
    const requests = this.#sum(windows, REQUESTS);
    const inTail = this.#sum(windows, IN_TAIL);
    const shown = Math.min(windows, shownWindows);
    return (
      this.#learnt >= Math.max(4 * windows, Math.ceil(min_baseline_windows / 2)) &&
      requests >= min_requests &&
      this.#isTrusted(requests >= min_requests * windows) &&
      inTail >= minInTail &&
      this.#sum(windows, EXCEEDANCES) >= minExceedances &&
      this.#sum(windows, BEYOND_EFFECT) >= inTail &&
      this.#sum(shown, BEYOND_EFFECT) >= this.#sum(shown, IN_TAIL) &&
      this.#of(0, EXCEEDANCES) > this.#of(0, EXPECTED)
    );
  }

  /**
   * Some bursts are rare, short, and hit all requests of their seconds: it takes a day to know them.
   * Until then either the total shows it in enough requests, or it lasts; and of a stage both.
   */
  #isTrusted(isEnough: boolean): boolean {
    if (this.#learnt * this.#options.window >= longKnownMs) return true;
    return this.#stage === totalStage ? isEnough || this.#isLasting : isEnough && this.#isLasting;
  }

  /** Whether most of the last windows show the effect, each by itself. */
  get #isLasting(): boolean {
    let shown = 0;
    for (let back = 0; back < Math.min(this.#run, shownWindows); back++) {
      if (this.#of(back, BEYOND_EFFECT) >= this.#of(back, IN_TAIL)) shown++;
    }
    return shown >= lastingWindows;
  }

  /** Whether what is left without its clearest window still says so. */
  #isConfirmed(windows: number, mean: number, dispersion: number): boolean {
    let clearest = 0;
    let most = Number.NEGATIVE_INFINITY;
    for (let back = 0; back < windows; back++) {
      const excess = this.#of(back, EXCEEDANCES) - this.#of(back, EXPECTED);
      if (excess > most) [most, clearest] = [excess, back];
    }
    const without = (count: number) => this.#sum(windows, count) - this.#of(clearest, count);
    const share = without(EXPECTED) / this.#sum(windows, EXPECTED);
    const [exceedances, requests] = [without(EXCEEDANCES), without(REQUESTS)];
    return logTailOf(exceedances, requests, mean * share, dispersion) <= logConfirmed;
  }
}

function placeOf(window: number): number {
  return (window % kept) * WINDOW_DOUBLES;
}

/** As logExceedanceTail; differences of sums may leave a fraction of a request too many. */
function logTailOf(exceedances: number, requests: number, mean: number, dispersion: number) {
  const n = Math.round(requests);
  if (n <= 0) return 0;
  const p = Math.min(Math.max(mean / n, Number.MIN_VALUE), 0.999);
  return logExceedanceTail(Math.min(exceedances, n), n, p, dispersion);
}
