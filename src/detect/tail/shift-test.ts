import { kindOfName, totalStage } from '../../base/dimensions.ts';
import { FirstHour } from '../../baseline/first-hour.ts';
import { Recurrences } from '../../baseline/recurrence/recurrences.ts';
import type { StageReference } from '../../baseline/series-reference.ts';
import { Arena } from '../../memory/arena.ts';
import type { StageSummary } from '../../series/series-window.ts';
import type { TDigest } from '../../sketch/t-digest.ts';
import { type StateArchive, serializeFields } from '../../snapshot/archive.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import type { TestLevels } from '../options/page-budget.ts';
import type { PeakPool } from '../score/peak-pool.ts';
import { burstWindows, peakScore } from '../score/peaks-over-threshold.ts';
import { EffectCounts, shownWindows } from './effect-counts.ts';
import { CusumBank, waitingWindows } from './evidence/cusum-bank.ts';
import { EvidenceWeights } from './evidence/evidence-weights.ts';
import { type FaultTemplate, faultTemplates, slowPathFault } from './evidence/fault-templates.ts';
import { WindowScores } from './evidence/window-scores.ts';
import type { ShiftVerdict } from './shift-verdict.ts';
import { countedOptions, logTailOf, TailCounts, type TailSums } from './tail-counts.ts';

const memory = Arena.shared();

/** Outcome of a window released from quarantine: learnt, or of an anomaly that is open or resolved. */
export type ReleaseOutcome = 'learnt' | 'open' | 'resolved';

/** Tuned with `npm run eval`; test/detect/tail/shift-test.test.ts holds them. */
const tuned = {
  /** Least score of a verdict: one in a thousand in theory. */
  significantScore: Math.log(1e3),
  /** Score above the threshold, and affected share, with which one window of the total opens. */
  singleWindow: { score: Math.log(1e3), share: 0.3 },
  /** Factor of `min_requests` for a stage alone; it falls to 1 as the evidence becomes certain. */
  manyFactor: 3,
  /** Score that must remain without the window of most evidence. */
  confirmedScore: Math.log(100),
  /** Known time and learnt windows, the predecessor's included, until which `#isEarlyConfirmed` must hold. */
  longKnownMs: 86_400_000,
  longLearnt: 300,
  /** Number of the last six windows in which a stage must show until then. */
  lastingWindows: 4,
  /** Factor over the threshold from which evidence is certain. */
  certainFactor: 2,
  /** Factor of the threshold for a stage alone within a burst's length: it may be the series' first burst. */
  burstFactor: 1.2,
  /** Age, in windows, of the evidence with which that of a window is compared. */
  risingWindows: 6,
  /** Part of the windows since evidence began in which the effect must show, more than by chance. */
  leastShownPart: 1 / 2,
  /** Dispersion from which windows count as overdispersed. */
  overdispersedFrom: 4,
} as const;
/** Factor of a stage's threshold while the total is significant, too, by whatever size. */
export const withTotalFactor = 0.8;

const count = faultTemplates.length;

/**
 * Offsets in the allocation, in doubles: scores of the last windows, starts of the quarantined ones,
 * variances of a baseline request's evidence (whole, within regions), then the allocations of the parts.
 */
const SCORES = 0;
const STARTS_MS = 8;
const VARIANCES = 16;
const VARIANCES_WITHIN = VARIANCES + count;
const EVIDENCE = VARIANCES_WITHIN + count;
const WEIGHTS = EVIDENCE + CusumBank.doubles;
const COUNTS = WEIGHTS + EvidenceWeights.doubles;

/** Fault with most evidence: windows since it began, its score, and the threshold. */
interface Found {
  readonly evidence: CusumBank;
  readonly fault: number;
  readonly run: number;
  readonly score: number;
  readonly level: number;
}

/** Scratch: scores of a window, and scores given how many of its requests are slow. */
const wholeScores = new WindowScores();
const shapeScores = new WindowScores();
/** Zero scores, for a window that is not evaluated by its shape. */
const noScores = new WindowScores();

/**
 * Test of one stage of one series: do its requests look more like one of several faults than like its past?
 *
 * For each fault, `CusumBank` adds up the requests' log-likelihood ratio, less the level that `LocalLevel`
 * predicts. So both one slow window and an hour of slightly slower ones are detected early. Overdispersed
 * windows are also tested given how many of their requests are slow: then only the shape of the durations
 * reveals a fault. One of the two must reach the threshold of the series' own past (`PeaksOverThreshold`,
 * `Recurrences`) and of the page budget. The tail must also have reached its least effect (`TailCounts`).
 *
 * Windows come in order. Each is evaluated, and later passed to `learn` with its outcome.
 *
 * Memory: some 14 KB, most of it contiguous; 18 KB where overdispersed. Cost: a microsecond or two a window.
 */
export class ShiftTest {
  // Fields needed for each window come first, so that they share cache lines.
  readonly #options: DetectOptions;
  readonly #at: number;
  #isComparing = false;
  #isRecurrenceActive = false;
  #hasPath = false;
  #evaluated = 0;
  #released = 0;
  #learnt = 0;
  /** Evidence by the shape of durations, once windows are overdispersed; and by all of a window. */
  #shape: CusumBank | undefined;
  readonly #whole: CusumBank;
  readonly #stage: string;
  readonly #scope = memory.scope();
  readonly #pool: PeakPool;
  readonly #recurrences = new Recurrences();
  /** Windows kept until a baseline without them exists. */
  #firstHour: FirstHour | undefined = new FirstHour(this.#scope);
  readonly #effects: EffectCounts;
  #reference: StageReference | undefined;
  #weights: EvidenceWeights | undefined;
  /** The options by which windows are counted: where requests are sparse, `window` is the time between two. */
  #counted: Pick<DetectOptions, 'quantiles' | 'window'>;
  /** Windows learnt by the series that this one replaces. */
  #inherited = 0;
  /** First and last learnt time, and that of the series that this one replaces. */
  readonly #known = { fromMs: Number.NaN, toMs: Number.NaN, inheritedMs: 0 };

  /** @param pool shared by all tests. */
  constructor(stage: string, options: DetectOptions, pool: PeakPool) {
    this.#stage = stage;
    this.#options = options;
    this.#counted = options;
    this.#pool = pool;
    this.#at = this.#scope.allocate(COUNTS + TailCounts.doubles(options)).offset;
    this.#whole = new CusumBank(options.window, pool, this.#at + EVIDENCE);
    this.#effects = new EffectCounts(options, this.#at + COUNTS);
  }

  /** Compares later windows with a baseline, and its effects with the total's; with none they are not evaluated. */
  compareWith(reference: StageReference | undefined, total: TDigest | undefined): void {
    this.#isComparing = reference !== undefined;
    if (reference === undefined || reference === this.#reference) return;
    const { digest, allowance } = reference;
    this.#reference = reference;
    this.#counted = countedOptions(reference, this.#options);
    const expected = allowance === 1 ? digest : digest.scaled(allowance);
    if (this.#weights !== undefined) this.#weights.renew(expected);
    else this.#weights = new EvidenceWeights(expected, this.#scope, this.#at + WEIGHTS);
    this.#view(VARIANCES, count).set(this.#weights.variances);
    this.#view(VARIANCES_WITHIN, count).set(this.#weights.variancesWithin);
    this.#hasPath = this.#effects.compareWith(digest, total, this.#weights.slowPath);
    if (this.#firstHour?.isBefore(reference.fromMs) === true)
      this.#replayFirstHour(this.#firstHour);
  }

  /** Evaluates a window; undefined where it and those before are not unusual. */
  evaluate(startMs: number, summary: StageSummary, levels: TestLevels): ShiftVerdict | undefined {
    this.#firstHour?.observe(startMs, summary.digest);
    if (!this.#isComparing) return undefined;
    const { requests, digest } = summary;
    const options = this.#options;
    const at = this.#at;
    const [whole, weights, counts] = [at + EVIDENCE, at + WEIGHTS, at + COUNTS];
    TailCounts.add(counts, options.quantiles.length, startMs, summary);
    if (this.#hasPath) this.#effects.addToPath(startMs, summary);
    EvidenceWeights.weigh(weights, digest, wholeScores);
    const add = CusumBank.add;
    const fault = add(whole, weights, counts, this.#counted, startMs, requests, wholeScores);
    const isOverdispersed = CusumBank.mostDispersion(whole) > tuned.overdispersedFrom;
    let shapeFault = -1;
    if (isOverdispersed) {
      this.#shape ??= this.#newEvidence();
      EvidenceWeights.within(weights, wholeScores, shapeScores);
      const shape = this.#shape.at;
      shapeFault = add(shape, weights, counts, this.#counted, startMs, requests, shapeScores);
    } else this.#shape?.forget();
    // A view taken earlier could be stale: the memory may have grown.
    const all = memory.doubles;
    const score = Math.max(wholeScores.score, isOverdispersed ? shapeScores.score : 0);
    const minuteAgo = at + SCORES + (this.#evaluated % tuned.risingWindows);
    const rising = score > (all[minuteAgo] as number);
    all[minuteAgo] = score;
    const isOfWhole = !isOverdispersed || wholeScores.sum >= shapeScores.sum;
    const { sum, varianceInflation } = isOfWhole ? wholeScores : shapeScores;
    this.#recurrences.begin(startMs, this.#isBorrowing);
    // Most windows are unremarkable: they skip the recurrences.
    if (this.#isRecurrenceActive || sum >= Recurrences.leastScore) {
      const sinceMs = isOfWhole ? this.#whole.startMs(fault) : this.#shape?.startMs(shapeFault);
      const kind = isOfWhole ? this.#whole.kind : undefined;
      this.#recurrences.observe(startMs, sum, varianceInflation, sinceMs ?? startMs, kind);
      this.#isRecurrenceActive = this.#recurrences.isOpen;
    }
    const recurring =
      score < peakScore ? 0 : this.#recurrences.threshold(startMs, varianceInflation);
    const slot = this.#evaluated % waitingWindows;
    CusumBank.enqueue(whole, slot, unexplained(wholeScores, recurring), requests, wholeScores);
    if (this.#shape !== undefined) {
      const shapeScore = isOverdispersed ? unexplained(shapeScores, recurring) : 0;
      const scores = isOverdispersed ? shapeScores : noScores;
      CusumBank.enqueue(this.#shape.at, slot, shapeScore, isOverdispersed ? requests : 0, scores);
    }
    all[at + STARTS_MS + slot] = startMs;
    this.#evaluated += 1;
    if (score < peakScore) return undefined;
    const perWeek = levels.perWeek / (isOverdispersed ? 2 : 1);
    const found = this.#clearest(startMs, fault, shapeFault, recurring, perWeek);
    return { ...this.#verdict(startMs, found), rising, recurs: found.score < recurring };
  }

  /** Evaluates the first hour's windows for recurrences, now that a baseline exists. */
  #replayFirstHour(firstHour: FirstHour): void {
    for (const { startMs, endMs, digest } of firstHour.pieces) {
      EvidenceWeights.weigh(this.#at + WEIGHTS, digest, wholeScores);
      const { evidence, varianceInflation } = this.#whole.clearestOf(wholeScores);
      // The event may have begun in the piece before, or before the series did.
      this.#recurrences.addPiece(2 * startMs - endMs, endMs, evidence, varianceInflation);
    }
    firstHour.release();
    this.#firstHour = undefined;
  }

  /** Evidence of the last window with its threshold: by the whole, or by the shape (fault -1 if absent). */
  #clearest(
    startMs: number,
    fault: number,
    shapeFault: number,
    recurring: number,
    perWeek: number,
  ) {
    const least = Math.max(tuned.significantScore, recurring);
    const { baseline } = this.#options;
    const foundIn = (evidence: CusumBank, { run, score }: WindowScores, of: number): Found => {
      const level = Math.max(least, evidence.level(of, startMs, perWeek, baseline));
      return { evidence, fault: of, run, score, level };
    };
    const whole = foundIn(this.#whole, wholeScores, fault);
    if (shapeFault < 0 || this.#shape === undefined) return whole;
    const shape = foundIn(this.#shape, shapeScores, shapeFault);
    return shape.score * whole.level > whole.score * shape.level ? shape : whole;
  }

  /** The last verdict, measured over more windows at a quantile; undefined where that is not counted. */
  over(verdict: ShiftVerdict, q: number, windows: number): ShiftVerdict | undefined {
    const counted = this.#effects.over(q, windows);
    return counted && { ...verdict, q, windows, ...counted };
  }

  /** Releases the window that began at `startMs` from quarantine, if it was evaluated. */
  learn(startMs: number, as: ReleaseOutcome): void {
    if (this.#released === this.#evaluated) return;
    const slot = this.#released % waitingWindows;
    if (memory.doubles[this.#at + STARTS_MS + slot] !== startMs) return;
    this.#released += 1;
    if (as === 'open') for (const evidence of this.#evidence) evidence.observePeak(slot);
    if (as === 'resolved') for (const evidence of this.#evidence) evidence.peaks.forgetPeak();
    if (as !== 'learnt') return;
    this.#learnt += 1;
    if (Number.isNaN(this.#known.fromMs)) this.#known.fromMs = startMs;
    this.#known.toMs = startMs + this.#options.window;
    const at = this.#at;
    CusumBank.learn(at + EVIDENCE, this.#whole, slot, at + VARIANCES);
    const shape = this.#shape;
    if (shape !== undefined) CusumBank.learn(shape.at, shape, slot, at + VARIANCES_WITHIN);
  }

  /** Copies dispersion, peaks and recurrences, not durations, from the series that this one replaces. */
  inherit(other: ShiftTest): void {
    this.#whole.inherit(other.#whole);
    if (other.#shape !== undefined) {
      this.#shape ??= this.#newEvidence();
      this.#shape.inherit(other.#shape);
    }
    this.#recurrences.inherit(other.#recurrences);
    this.#inherited = other.#learnt + other.#inherited;
    this.#known.inheritedMs = other.#knownMs;
  }

  /** Time from the first to the last learnt window, and that of the series that this one replaces. */
  get #knownMs(): number {
    const { fromMs, toMs, inheritedMs } = this.#known;
    return inheritedMs + (Number.isNaN(fromMs) ? 0 : toMs - fromMs);
  }

  /** Ends an emitted anomaly that recovered by itself: if it was a burst, it is learnt as one. */
  endEmitted({ perWeek }: TestLevels): void {
    for (const evidence of this.#evidence) {
      for (let i = this.#released; i < this.#evaluated; i++)
        evidence.observePeak(i % waitingWindows);
      evidence.peaks.endEmitted(perWeek);
    }
  }

  /** Resets the evidence, which was acted on, but not what was learnt. */
  forgetRun(): void {
    for (const evidence of this.#evidence) {
      evidence.forget();
      evidence.peaks.forgetPeak();
    }
    this.#view(SCORES, tuned.risingWindows).fill(0);
  }

  /** Starts over with another baseline; dispersions and peaks are kept. */
  rebase(): void {
    this.forgetRun();
    for (const evidence of this.#evidence) evidence.localLevel.forget();
    this.#released = this.#evaluated;
  }

  /** Leaves out fields derived from the baseline, and the shared pool. */
  serialize(state: StateArchive): void {
    state.section('shift test', 7, () => {
      this.#whole.serialize(state);
      this.#shape = state.optional(this.#shape, (shape = this.#newEvidence()) => {
        shape.serialize(state);
        return shape;
      });
      this.#recurrences.serialize(state);
      this.#isRecurrenceActive = this.#recurrences.isOpen;
      this.#firstHour = state.optional(this.#firstHour, (hour = new FirstHour(this.#scope)) => {
        hour.serialize(state);
        return hour;
      });
      this.#effects.serialize(state);
      state.fill(this.#view(VARIANCES, count));
      state.fill(this.#view(VARIANCES_WITHIN, count));
      state.fill(this.#view(SCORES, tuned.risingWindows));
      state.fill(this.#view(STARTS_MS, waitingWindows));
      this.#evaluated = state.number(this.#evaluated);
      this.#released = state.number(this.#released);
      this.#learnt = state.number(this.#learnt);
      this.#inherited = state.number(this.#inherited);
      Object.assign(this.#known, serializeFields(state, this.#known, { ...this.#known }));
    });
  }

  /** View, valid until the memory grows. */
  #view(slot: number, doubles: number): Float64Array {
    return memory.doubles.subarray(this.#at + slot, this.#at + slot + doubles);
  }

  get #evidence(): readonly CusumBank[] {
    return this.#shape === undefined ? [this.#whole] : [this.#whole, this.#shape];
  }

  #newEvidence(): CusumBank {
    return new CusumBank(this.#options.window, this.#pool);
  }

  #verdict(startMs: number, found: Found) {
    const { evidence, fault, run, score, level } = found;
    const isPathSignificant = evidence.sum(slowPathFault) >= tuned.significantScore;
    const { counts, effect, quantile, q, baselineMs } = this.#effects.shown(run, isPathSignificant);
    const shows = effect !== undefined && effect.windows >= tuned.leastShownPart * run;
    const windows = effect?.windows ?? Math.min(run, shownWindows);
    const sums = counts.sums(quantile, windows);
    const mayOpen = (least: number, isWhole = this.#stage === totalStage) =>
      shows &&
      score >= least &&
      this.#mayOpen({ ...found, level: least }, windows, sums, counts, isWhole);
    const isSuspicious = score >= Math.max(tuned.significantScore, level / 2);
    return {
      stage: this.#stage,
      q,
      baselineMs,
      windows,
      logP: -score,
      logAlpha: -level,
      ...sums,
      dispersion: evidence.dispersion(fault),
      startedAtMs: counts.startOfExcess(quantile, run),
      sinceMs: evidence.startMs(fault),
      windowStartMs: startMs,
      windowRequests: counts.sums(quantile, 1).requests,
      opens: mayOpen(level),
      opensWithTotal: mayOpen(withTotalFactor * level),
      opensBeside: mayOpen(level, true),
      isClear: score >= level,
      anomalous: shows && score >= tuned.significantScore,
      suspicious:
        isSuspicious && this.#effects.showsHalf(Math.min(run, shownWindows), isPathSignificant),
      exceeding:
        evidence.last(fault) >= tuned.significantScore &&
        this.#effects.showsHalf(1, isPathSignificant),
    };
  }

  /**
   * Conditions for opening, apart from significance and effect.
   *
   * @param isWhole false where the total must show the shift, too, or more speak for it.
   */
  #mayOpen(
    found: Found,
    windows: number,
    shown: TailSums,
    counts: TailCounts,
    isWhole: boolean,
  ): boolean {
    const { evidence, fault, run, score, level } = found;
    const { min_baseline_windows, min_requests } = this.#options;
    const leastLearnt = Math.ceil(min_baseline_windows / 2);
    // A shift that is over opens no anomaly.
    if (evidence.last(fault) <= 0) return false;
    // Windows that measured the variation; the previous series' count while its baseline is borrowed.
    const learnt = this.#learnt + (this.#isBorrowing ? this.#inherited : 0);
    if (learnt < Math.max(leastLearnt, 4 * Math.min(windows, shownWindows))) return false;
    const { requests } = shown;
    const mayBeChance = run >= burstWindows && score < tuned.certainFactor * level;
    const isImprobable = logTailOf(shown, evidence.dispersion(fault)) <= -tuned.significantScore;
    if (mayBeChance && !isImprobable) return false;
    if (run < burstWindows && !isWhole && score < tuned.burstFactor * level) return false;
    const doubt = Math.max(0, 1 - (score / level - 1) / (tuned.certainFactor - 1));
    const times = isWhole ? 1 : 1 + (tuned.manyFactor - 1) * doubt;
    if (requests < times * min_requests) return false;
    const isMany = requests >= tuned.manyFactor * min_requests;
    const isEnough = requests >= tuned.manyFactor * min_requests * windows;
    const isLongKnown =
      this.#knownMs >= tuned.longKnownMs && this.#learnt + this.#inherited >= tuned.longLearnt;
    if (!isLongKnown && !(isMany && this.#isEarlyConfirmed(isEnough, isWhole, found, counts)))
      return false;
    if (windows > 1 && evidence.rest(fault) >= tuned.confirmedScore) return true;
    const { share } = faultTemplates[fault] as FaultTemplate;
    const { singleWindow } = tuned;
    return isWhole && score - level >= singleWindow.score && share >= singleWindow.share;
  }

  /** True for a new series, which is compared with a borrowed baseline. */
  get #isBorrowing(): boolean {
    return this.#reference !== undefined && this.#reference.allowance !== 1;
  }

  /**
   * Condition on the first day, when rare bursts are not yet learnt. The total must show the shift for a while,
   * or surely in many requests; a part for a while in many, a milestone also surely.
   */
  #isEarlyConfirmed(
    isEnough: boolean,
    isWhole: boolean,
    { score, level }: Found,
    counts: TailCounts,
  ) {
    const isLasting = counts.lasting(shownWindows) >= tuned.lastingWindows;
    const isSure = score >= tuned.certainFactor * level;
    if (isWhole) return isLasting || (isEnough && isSure);
    return isLasting && (isEnough || (isSure && kindOfName(this.#stage) !== 'part'));
  }
}

/** Score to learn: 0 up to the recurring score of this time of day. */
const unexplained = ({ score }: WindowScores, recurring: number) => (score > recurring ? score : 0);
