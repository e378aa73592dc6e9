import { totalStage } from '../../base/dimensions.ts';
import { FirstHour } from '../../baseline/first-hour.ts';
import { Recurrences } from '../../baseline/recurrence/recurrences.ts';
import type { StageReference } from '../../baseline/series-reference.ts';
import { Arena } from '../../memory/arena.ts';
import type { StageSummary } from '../../series/series-window.ts';
import type { TDigest } from '../../sketch/t-digest.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import type { TestLevels } from '../options/page-budget.ts';
import type { PeakPool } from '../score/peak-pool.ts';
import { burstWindows, peakScore } from '../score/peaks-over-threshold.ts';
import { logExceedanceTail } from '../stats/exceedance-tail.ts';
import { EffectCounts, shownWindows } from './effect-counts.ts';
import { CusumBank, waitingWindows } from './evidence/cusum-bank.ts';
import { EvidenceWeights } from './evidence/evidence-weights.ts';
import { type FaultTemplate, faultTemplates, slowPathFault } from './evidence/fault-templates.ts';
import { WindowScores } from './evidence/window-scores.ts';
import type { ShiftVerdict } from './shift-verdict.ts';
import { TailCounts, type TailSums } from './tail-counts.ts';

const memory = Arena.shared();

/**
 * What becomes of a window that leaves quarantine: it is learnt, or belongs to an anomaly that is open, or to
 * one that is over.
 */
export type Settling = 'learnt' | 'told' | 'over';

/** What is odd: one in a thousand by theory, and no test opens an anomaly on less. */
const oddScore = Math.log(1e3);
/**
 * A single window opens an anomaly only when it is this much clearer, of the total, and of many requests:
 * ten seconds of a few very slow ones, or of a stage that nobody waited for, are not worth a night.
 */
const singleWindow = { score: Math.log(1e3), share: 0.3 } as const;
/** A stage that nobody waited for opens one in so many times `min_requests`; once, if it is beyond doubt. */
const manyTimes = 3;
/** What must remain of the evidence when its clearest window is left out. */
const confirmedScore = Math.log(100);
/**
 * Once so much of the series was learnt, windows of few requests are judged together, and a stage may open
 * an anomaly that does not last yet. It lasts in so many of the last six windows.
 */
const longKnownMs = 86_400_000;
const lastingWindows = 4;
/** So many times the level is beyond doubt. */
const beyondDoubt = 2;
/**
 * A stage alone that is no older than a burst must be so many times as clear as the level: it may be the first burst
 * of a series that has had none.
 */
const timesOfBurst = 1.2;
/** A stage is clear enough at this part of its level once whole requests are beyond theirs, slower by little or much. */
export const partBeside = 0.8;
/** Evidence is compared with that of so many windows before. */
const risingWindows = 6;
/**
 * The effect must show in this part of the windows since evidence began: a little that has been there for long, as
 * a swing is, and a few slow requests by chance, are no fault.
 */
const leastPartShown = 1 / 2;

const count = faultTemplates.length;

/**
 * What is kept in the arena, in doubles: scores of the last windows, starts of those that wait, the variances of
 * what a usual request says, whole and within regions; then the parts that this is made of.
 */
const BEFORE = 0;
const WAITING_MS = 8;
const VARIANCES = 16;
const VARIANCES_WITHIN = VARIANCES + count;
const EVIDENCE = VARIANCES_WITHIN + count;
const WEIGHTS = EVIDENCE + CusumBank.doubles;
const COUNTS = WEIGHTS + EvidenceWeights.doubles;

/** The fault that there is most evidence for: windows since it began, how much there is, how much there must be. */
interface Found {
  readonly evidence: CusumBank;
  readonly fault: number;
  readonly run: number;
  readonly score: number;
  readonly level: number;
}

/** Scratch: all that a window says, and what it says given how many of its requests are slow. */
const wholeScores = new WindowScores();
const shapeScores = new WindowScores();
/** Of a window that is not judged by its shape: all 0, whatever was judged before it. */
const noScores = new WindowScores();
/** Windows that vary by so many times as much as by chance swing by themselves. */
const swinging = 4;

/**
 * Judges one stage of one series: do its requests look more like one of some faults than like its past?
 * For each fault the log-likelihood ratio of the requests is added up (`CusumBank`), so that one slow window
 * and an hour of slightly slower ones both tell, each as soon as can be; what is foretold of late
 * (`LocalLevel`) is taken off. Where windows swing by themselves the same is added up given how many requests
 * of each are slow: it is only by where they lie that a fault can be told then. One of the two must reach what
 * the series' own past (`PeaksOverThreshold`, `Recurrences`) and the page budget ask for, and the tail must have
 * moved by what matters to people (`TailCounts`).
 *
 * Windows come in order; each is judged, and `settle`d once it is known whether it belongs to an anomaly.
 *
 * Memory: some 14 KB, most of it side by side; 18 where windows swing. Cost: a microsecond or two a window.
 */
export class ShiftTest {
  // What each window needs comes first: it lies side by side.
  readonly #options: DetectOptions;
  readonly #at: number;
  #isComparing = false;
  #isEpisode = false;
  #hasPath = false;
  #judged = 0;
  #settled = 0;
  #learnt = 0;
  /** Of where requests lie, given how many are slow, once windows swing; and of all that a window says. */
  #shape: CusumBank | undefined;
  readonly #whole: CusumBank;
  readonly #stage: string;
  readonly #rooms = memory.scope();
  readonly #pool: PeakPool;
  readonly #episodes = new Recurrences();
  /** Until it is known what is usual without it. */
  #firstHour: FirstHour | undefined = new FirstHour(this.#rooms);
  readonly #effects: EffectCounts;
  #reference: StageReference | undefined;
  #weights: EvidenceWeights | undefined;
  /** Windows that a series before this one has learnt. */
  #known = 0;

  /** @param pool shared by all tests. */
  constructor(stage: string, options: DetectOptions, pool: PeakPool) {
    this.#stage = stage;
    this.#options = options;
    this.#pool = pool;
    this.#at = this.#rooms.allocate(COUNTS + TailCounts.doubles(options)).offset;
    this.#whole = new CusumBank(options.window, pool, this.#at + EVIDENCE);
    this.#effects = new EffectCounts(options, this.#at + COUNTS);
  }

  /**
   * Compares windows with that from now on; with undefined they are not judged.
   *
   * @param total what whole requests usually take, where that is known.
   */
  compareWith(reference: StageReference | undefined, total: TDigest | undefined): void {
    this.#isComparing = reference !== undefined;
    if (reference === undefined || reference === this.#reference) return;
    const { digest, allowance } = reference;
    this.#reference = reference;
    const expected = allowance === 1 ? digest : digest.scaled(allowance);
    if (this.#weights !== undefined) this.#weights.renew(expected);
    else this.#weights = new EvidenceWeights(expected, this.#rooms, this.#at + WEIGHTS);
    this.#view(VARIANCES, count).set(this.#weights.variances);
    this.#view(VARIANCES_WITHIN, count).set(this.#weights.variancesWithin);
    this.#effects.compareWith(digest, total, this.#weights.slowPath);
    this.#hasPath = this.#effects.hasPath;
    if (this.#firstHour?.isBefore(reference.fromMs) === true) this.#judgeAgain(this.#firstHour);
  }

  /** undefined when nothing is odd about the window and those before it. */
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
    const find = CusumBank.find;
    const fault = find(whole, weights, counts, options, startMs, requests, wholeScores);
    const swings = CusumBank.mostDispersion(whole) > swinging;
    let faultOfShape = -1;
    if (swings) {
      this.#shape ??= this.#newEvidence();
      EvidenceWeights.within(weights, wholeScores, shapeScores);
      const shape = this.#shape.at;
      faultOfShape = find(shape, weights, counts, options, startMs, requests, shapeScores);
    } else this.#shape?.forget();
    // Not before: the memory may have grown.
    const all = memory.doubles;
    const score = Math.max(wholeScores.score, swings ? shapeScores.score : 0);
    const minuteAgo = at + BEFORE + (this.#judged % risingWindows);
    const rising = score > (all[minuteAgo] as number);
    all[minuteAgo] = score;
    const isOfWhole = !swings || wholeScores.sum >= shapeScores.sum;
    const { sum, varianceInflation } = isOfWhole ? wholeScores : shapeScores;
    this.#episodes.begin(startMs, this.#isBorrowing);
    // Of most windows there is nothing to remember: what would is not looked at.
    if (this.#isEpisode || sum >= Recurrences.leastScore) {
      const sinceMs = isOfWhole ? this.#whole.startMs(fault) : this.#shape?.startMs(faultOfShape);
      const kind = isOfWhole ? this.#whole.kind : undefined;
      this.#episodes.observe(startMs, sum, varianceInflation, sinceMs ?? startMs, kind);
      this.#isEpisode = this.#episodes.isOpen;
    }
    const before = score < peakScore ? 0 : this.#episodes.threshold(startMs, varianceInflation);
    const place = this.#judged % waitingWindows;
    CusumBank.await(whole, place, newsOf(wholeScores, before), requests, wholeScores);
    if (this.#shape !== undefined) {
      const ofShape = swings ? newsOf(shapeScores, before) : 0;
      const scores = swings ? shapeScores : noScores;
      CusumBank.await(this.#shape.at, place, ofShape, swings ? requests : 0, scores);
    }
    all[at + WAITING_MS + place] = startMs;
    this.#judged += 1;
    if (score < peakScore) return undefined;
    const perWeek = levels.perWeek / (swings ? 2 : 1);
    const found = this.#clearest(startMs, fault, faultOfShape, before, perWeek);
    return { ...this.#verdict(startMs, found), rising, recurs: found.score < before };
  }

  /** Remembers what was clear in the first hour, now that there is something to tell it from. */
  #judgeAgain(firstHour: FirstHour): void {
    for (const { startMs, endMs, digest } of firstHour.pieces) {
      EvidenceWeights.weigh(this.#at + WEIGHTS, digest, wholeScores);
      const { evidence, varianceInflation } = this.#whole.clearestOf(wholeScores);
      // It may have begun in the piece before, or before the series did.
      this.#episodes.addPiece(2 * startMs - endMs, endMs, evidence, varianceInflation);
    }
    firstHour.release();
    this.#firstHour = undefined;
  }

  /** What was found in the last window, and what it must reach: of all, or of its shape (-1: there is none). */
  #clearest(startMs: number, fault: number, ofShape: number, before: number, perWeek: number) {
    const least = Math.max(oddScore, before);
    const { baseline } = this.#options;
    const foundIn = (evidence: CusumBank, { run, score }: WindowScores, of: number): Found => {
      const level = Math.max(least, evidence.level(of, startMs, perWeek, baseline));
      return { evidence, fault: of, run, score, level };
    };
    const whole = foundIn(this.#whole, wholeScores, fault);
    if (ofShape < 0 || this.#shape === undefined) return whole;
    const shape = foundIn(this.#shape, shapeScores, ofShape);
    return shape.score * whole.level > whole.score * shape.level ? shape : whole;
  }

  /** What the last verdict says at a quantile, over so many windows; undefined for one that is not judged. */
  over(verdict: ShiftVerdict, q: number, windows: number): ShiftVerdict | undefined {
    const counted = this.#effects.over(q, windows);
    if (counted === undefined) return undefined;
    const { baselineMs, ...sums } = counted;
    return { ...verdict, q, thresholdMs: baselineMs, windows, ...sums };
  }

  /** Takes the window that began then, if it was judged, out of quarantine; and does with it what is asked for. */
  learn(startMs: number, as: Settling): void {
    if (this.#settled === this.#judged) return;
    const place = this.#settled % waitingWindows;
    if (memory.doubles[this.#at + WAITING_MS + place] !== startMs) return;
    this.#settled += 1;
    if (as !== 'learnt') {
      for (const evidence of this.#evidence) {
        if (as === 'told') evidence.observePeak(place);
        else evidence.forgetPeak();
      }
      return;
    }
    this.#learnt += 1;
    const at = this.#at;
    CusumBank.learn(at + EVIDENCE, this.#whole, place, at + VARIANCES);
    const shape = this.#shape;
    if (shape !== undefined) CusumBank.learn(shape.at, shape, place, at + VARIANCES_WITHIN);
  }

  /**
   * Takes over what is known of the same stage of another series, which this one has come to replace: how
   * restless it is, how far it goes and what comes every day, not how long it takes.
   */
  inherit(other: ShiftTest): void {
    this.#whole.inherit(other.#whole);
    if (other.#shape !== undefined) {
      this.#shape ??= this.#newEvidence();
      this.#shape.inherit(other.#shape);
    }
    this.#episodes.inherit(other.#episodes);
    this.#known = other.#learnt + other.#known;
  }

  /** The anomaly is over by itself; it was perhaps no more than a burst, and such are learnt. */
  endEmitted({ perWeek }: TestLevels): void {
    for (const evidence of this.#evidence) {
      for (let i = this.#settled; i < this.#judged; i++) evidence.observePeak(i % waitingWindows);
      evidence.endEmitted(perWeek);
    }
  }

  /** Forgets the evidence, not the past: what it said has been dealt with. */
  forgetRun(): void {
    for (const evidence of this.#evidence) {
      evidence.forget();
      evidence.forgetPeak();
    }
    this.#view(BEFORE, risingWindows).fill(0);
  }

  /** Starts anew against another baseline. What is known of its restlessness stays. */
  rebase(): void {
    this.forgetRun();
    this.#whole.forgetDrift();
    this.#shape?.forgetDrift();
    this.#settled = this.#judged;
  }

  /** All but what is made anew of the baseline, and the pool, which is shared. */
  serialize(state: StateArchive): void {
    state.section('shift test', 6, () => {
      this.#whole.serialize(state);
      this.#shape = state.optional(this.#shape, (shape = this.#newEvidence()) => {
        shape.serialize(state);
        return shape;
      });
      this.#episodes.serialize(state);
      this.#isEpisode = this.#episodes.isOpen;
      this.#firstHour = state.optional(this.#firstHour, (hour = new FirstHour(this.#rooms)) => {
        hour.serialize(state);
        return hour;
      });
      this.#effects.serialize(state);
      state.fill(this.#view(VARIANCES, count));
      state.fill(this.#view(VARIANCES_WITHIN, count));
      state.fill(this.#view(BEFORE, risingWindows));
      state.fill(this.#view(WAITING_MS, waitingWindows));
      this.#judged = state.number(this.#judged);
      this.#settled = state.number(this.#settled);
      this.#learnt = state.number(this.#learnt);
      this.#known = state.number(this.#known);
    });
  }

  /** A view, for as long as the memory does not grow. */
  #view(place: number, doubles: number): Float64Array {
    return memory.doubles.subarray(this.#at + place, this.#at + place + doubles);
  }

  get #evidence(): readonly CusumBank[] {
    return this.#shape === undefined ? [this.#whole] : [this.#whole, this.#shape];
  }

  #newEvidence(): CusumBank {
    return new CusumBank(this.#options.window, this.#pool);
  }

  #verdict(startMs: number, found: Found) {
    const { evidence, fault, run, score, level } = found;
    const isPathOdd = evidence.sum(slowPathFault) >= oddScore;
    const { counts, effect, quantile, q, baselineMs } = this.#effects.shown(run, isPathOdd);
    const shows = effect !== undefined && effect.windows >= leastPartShown * run;
    const windows = effect?.windows ?? Math.min(run, shownWindows);
    const sums = counts.sums(quantile, windows);
    const mayOpen = (least: number) =>
      shows && score >= least && this.#mayOpen({ ...found, level: least }, windows, sums, counts);
    const isOdd = score >= Math.max(oddScore, level / 2);
    return {
      stage: this.#stage,
      q,
      thresholdMs: baselineMs,
      windows,
      logP: -score,
      logLevel: -level,
      ...sums,
      dispersion: evidence.dispersion(fault),
      startedAtMs: counts.startOfExcess(quantile, run),
      sinceMs: evidence.startMs(fault),
      windowStartMs: startMs,
      windowRequests: counts.sums(quantile, 1).requests,
      opens: mayOpen(level),
      opensBeside: mayOpen(partBeside * level),
      isClear: score >= level,
      isOut: shows && score >= oddScore,
      suspicious: isOdd && this.#effects.showsHalf(Math.min(run, shownWindows), isPathOdd),
      loud: evidence.last(fault) >= oddScore && this.#effects.showsHalf(1, isPathOdd),
    };
  }

  /** Everything but significance and effect. */
  #mayOpen(found: Found, windows: number, shown: TailSums, counts: TailCounts): boolean {
    const { evidence, fault, run, score, level } = found;
    const { min_baseline_windows, min_requests } = this.#options;
    const leastLearnt = Math.ceil(min_baseline_windows / 2);
    // What is over is not told any more.
    if (evidence.last(fault) <= 0) return false;
    if (this.#windowsKnown < Math.max(leastLearnt, 4 * Math.min(windows, shownWindows)))
      return false;
    const { requests } = shown;
    const isTotal = this.#stage === totalStage;
    const mayBeChance = run >= burstWindows && score < beyondDoubt * level;
    if (mayBeChance && !isNoChance(shown, evidence.dispersion(fault))) return false;
    if (run < burstWindows && !isTotal && score < timesOfBurst * level) return false;
    const doubt = Math.max(0, 1 - (score / level - 1) / (beyondDoubt - 1));
    const times = isTotal ? 1 : 1 + (manyTimes - 1) * doubt;
    if (requests < times * min_requests) return false;
    const isMany = requests >= manyTimes * min_requests;
    const isEnough = requests >= manyTimes * min_requests * windows;
    if (!this.#isKnown && !(isMany && this.#isPlain(isEnough, score, level, counts))) return false;
    if (windows > 1 && evidence.rest(fault) >= confirmedScore) return true;
    const { share } = faultTemplates[fault] as FaultTemplate;
    return isTotal && score - level >= singleWindow.score && share >= singleWindow.share;
  }

  /** Windows that say how much it varies: of the series before it, too, while that is what it is compared with. */
  get #windowsKnown(): number {
    return this.#learnt + (this.#isBorrowing ? this.#known : 0);
  }

  /** Whether the series is new: it is compared with the past of others. */
  get #isBorrowing(): boolean {
    return this.#reference !== undefined && this.#reference.allowance !== 1;
  }

  /** Whether the series, or the one that it came after, was learnt for a day. */
  get #isKnown(): boolean {
    return (this.#learnt + this.#known) * this.#options.window >= longKnownMs;
  }

  /**
   * Some bursts are rare, short, and hit all requests of their seconds: it takes a day to know them. Until then
   * the total must show it for a while or beyond all doubt, and a stage for a while, in many requests.
   */
  #isPlain(isEnough: boolean, score: number, level: number, counts: TailCounts): boolean {
    const isLasting = counts.lasting(shownWindows) >= lastingWindows;
    if (this.#stage !== totalStage) return isEnough && isLasting;
    return isLasting || (isEnough && score >= beyondDoubt * level);
  }
}

/**
 * Whether what a page would show is odd by itself. Much may speak for a little that nobody minds, and a few slow
 * requests, which come by chance, would make a page of it.
 */
function isNoChance({ requests, exceedances, expected }: TailSums, dispersion: number): boolean {
  return logExceedanceTail(exceedances, requests, expected / requests, dispersion) <= -oddScore;
}

/** How far it goes; what is known to come at this time of day is of no interest. */
function newsOf({ score }: WindowScores, known: number): number {
  return score > known ? score : 0;
}
