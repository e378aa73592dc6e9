import { totalStage } from '../../base/dimensions.ts';
import type { StageSummary } from '../../series/series-window.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import type { AnomalyEvent, Resolution } from '../event/anomaly-event.ts';
import { anomalySubject, formatMs } from '../event/anomaly-summary.ts';
import { unaccounted } from '../event/blame.ts';
import { durationText } from '../event/format.ts';
import { EventChain } from '../lifecycle/event-chain.ts';
import { type DetectOptions, longestRun, longestSpan } from '../options/detect-options.ts';
import { logExceedanceTail } from '../stats/exceedance-tail.ts';
import type { Measured } from './open-event.ts';
import { effectBounds } from './tail-threshold.ts';

/** Whether the leading tail is still out in the last windows; undefined if not judged. */
export type Following = 'loud' | 'quiet' | undefined;

/** What a window holds, or several together. */
interface LeadCounts {
  readonly requests: number;
  readonly exceedances: number;
  readonly beyondHalf: number;
  readonly beyondEffect: number;
}

interface LeadCount extends LeadCounts {
  readonly startMs: number;
}

/** What else is known of a window. */
interface Around {
  /** The leading stage's evidence grows. */
  readonly isRising?: boolean;
  /** Another stage of the series is out. */
  readonly isOtherOut?: boolean;
  /** Another stage shows an effect by now, clear in this window or not. */
  readonly isOtherShown?: boolean;
  /** How far the day has moved its baseline since that was learnt. */
  readonly baselineFactor?: number;
}

/** How soon it is over. */
export interface ResolvePolicy {
  /** Quiet windows in a row that resolve it. */
  readonly clearWindows: number;
  /** Time without an effect worth a page that resolves it, though single windows are loud. */
  readonly decayedMs: number;
}

interface LeadSums extends LeadCounts {
  /** Whether the usual windows held too few requests, and more of them had to be taken. */
  readonly isTrickle: boolean;
}

/** Leaving looks at as many windows as opening did, but at no more than these. */
const maxLeaveWindows = 6;
const logSmall = Math.log(1e-2);
/**
 * Where requests trickle, a slow one is among the last thirty for minutes, and two of them are no news: as many must
 * be slow as chance gives more seldom than this.
 */
const logOfTrickle = Math.log(0.1);
/** What is so much likelier is sure. */
const logSure = Math.log(1e-2);
/** What is out by less than this part of the least effect is not, in the long run. */
const leastLeft = 3 / 4;
/** Nor has it petered out while another stage was out, or showed an effect, in this part of the windows. */
const partBeside = 1 / 20;
/** Where all requests were above the quantile, so many are taken to have been. */
const maxShare = 0.99;
/** An anomaly that has grown by this factor since it was last told is told again. */
const materialGrowth = 1.5;
/** A new culprit must explain this much, in two windows in a row. */
const materialShare = 0.5;

/**
 * An anomaly from opening to resolving. Whether its tail is still out is judged by what its event
 * says (stage, quantile, baseline, dispersion), so that a detector that knows only the event goes
 * on as the one that opened it would have.
 */
export class OpenAnomaly {
  readonly #options: DetectOptions;
  readonly #patience: ResolvePolicy;
  #chain: EventChain;
  #counts: LeadCount[] = [];
  #lastJudgedMs = Number.NaN;
  /** How far the day had moved its baseline in the last window, and when it was measured. */
  #baselineFactor = 1;
  #measuredTimes = 1;
  #newCulprit = '';
  /** The largest ratio that was told of what is measured. */
  #mostRatio = 0;
  /**
   * Since its tail was last worth a page: when that was, windows, those in which another stage was out or shown,
   * requests that are lacking for it, ln of told over usual.
   */
  #worthMs = Number.NaN;
  #windows = 0;
  #windowsBeside = 0;
  #lacking = 0;
  #logRatio = 0;
  #hasPeteredOut = false;

  /** @param announced whether the event has gone out. */
  constructor(
    event: AnomalyEvent,
    options: DetectOptions,
    announced: boolean,
    patience: ResolvePolicy,
  ) {
    this.#chain = new EventChain(event, announced, options.window);
    this.#options = options;
    this.#patience = patience;
  }

  /** Saves one, or makes the one that was saved. */
  static serialize(
    state: StateArchive,
    open: OpenAnomaly | undefined,
    options: DetectOptions,
  ): OpenAnomaly {
    let restored = open;
    state.section('open anomaly', 9, () => {
      const chain = EventChain.serialize(
        state,
        open === undefined ? undefined : open.#chain,
        options.window,
      );
      const clearWindows = state.number(open === undefined ? 0 : open.#patience.clearWindows);
      const decayedMs = state.number(open === undefined ? 0 : open.#patience.decayedMs);
      const patience = { clearWindows, decayedMs };
      restored ??= new OpenAnomaly(chain.event, options, chain.announced, patience);
      restored.#chain = chain;
      restored.#serialize(state);
    });
    return restored as OpenAnomaly;
  }

  #serialize(state: StateArchive): void {
    this.#counts = state.list(this.#counts, (count) => ({
      startMs: state.number(count?.startMs ?? 0),
      requests: state.number(count?.requests ?? 0),
      exceedances: state.number(count?.exceedances ?? 0),
      beyondHalf: state.number(count?.beyondHalf ?? 0),
      beyondEffect: state.number(count?.beyondEffect ?? 0),
    }));
    this.#lastJudgedMs = state.number(this.#lastJudgedMs);
    this.#baselineFactor = state.number(this.#baselineFactor);
    this.#measuredTimes = state.number(this.#measuredTimes);
    this.#newCulprit = state.text(this.#newCulprit);
    this.#mostRatio = state.number(this.#mostRatio);
    this.#worthMs = state.number(this.#worthMs);
    this.#windows = state.number(this.#windows);
    this.#windowsBeside = state.number(this.#windowsBeside);
    this.#lacking = state.number(this.#lacking);
    this.#logRatio = state.number(this.#logRatio);
  }

  get event(): AnomalyEvent {
    return this.#chain.event;
  }

  get announced(): boolean {
    return this.#chain.announced;
  }

  get startedAtMs(): number {
    return this.#chain.startedAtMs;
  }

  /** What has gone out by this name counts: others may have told it first, at another time. */
  adopt(published: AnomalyEvent): void {
    this.#chain.adopt(published);
  }

  /** What the tail that is measured usually is, at the time of day of the last window. */
  get baselineMs(): number {
    return (this.event.baseline_ms * this.#baselineFactor) / this.#measuredTimes;
  }

  /** It was opened, and told, in the window that it has followed. */
  begin(): void {
    this.#chain.begin();
  }

  /** Nobody was told: it is announced if it still opens. */
  unannounce(): void {
    this.#chain.unannounce();
  }

  /** Milliseconds since the last window with enough requests to judge. */
  silentMs(windowStartMs: number): number {
    if (Number.isNaN(this.#lastJudgedMs)) this.#lastJudgedMs = windowStartMs;
    return windowStartMs - this.#lastJudgedMs;
  }

  /** Takes the next window of the leading stage. */
  observe(
    windowStartMs: number,
    summary: StageSummary | undefined,
    { isRising = false, isOtherOut = false, isOtherShown = false, baselineFactor = 1 }: Around = {},
  ): Following {
    this.#chain.reach(windowStartMs);
    this.#baselineFactor = baselineFactor;
    if (summary === undefined) return undefined;
    const sums = this.#sumWith(windowStartMs, summary);
    this.#sumLacking(windowStartMs, summary, isOtherOut || isOtherShown);
    if (sums.requests < this.#options.min_requests) return undefined;
    this.#lastJudgedMs = windowStartMs;
    const isNoChance = !sums.isTrickle || this.#isAboveHalf(sums);
    const isAtBaseline = this.#isAtBaseline(sums);
    const isOut = this.#isOut(sums) && !isAtBaseline;
    const goesOn = isOtherOut || isOtherShown || (isRising && !(isAtBaseline && this.#isSettled));
    const loud = isOut || (goesOn && isNoChance);
    this.#chain.observe(loud);
    this.#hasPeteredOut = !isOtherOut && this.#isLongBeneath(windowStartMs);
    return loud ? 'loud' : 'quiet';
  }

  /** True once enough quiet windows have followed each other, or it has petered out. */
  get isOver(): boolean {
    return this.#chain.clearWindows >= this.#patience.clearWindows || this.#hasPeteredOut;
  }

  /** True once its tail has been worth no page for long, and is by far less than what was told. */
  get hasPeteredOut(): boolean {
    return this.#hasPeteredOut;
  }

  /** Holds a replayed anomaly open: only a live window may resolve what went out as open. */
  holdOpen(): void {
    this.#chain.holdOpen(this.#patience.clearWindows - 1);
    this.#hasPeteredOut = false;
  }

  /** Adds a window to the last ones: those that leaving looks at, more where they hold few requests. */
  #sumWith(startMs: number, { requests, digest }: StageSummary): LeadSums {
    const { baselineMs } = this;
    const { evidence } = this.event;
    const { effectMs, halfEffectMs } = effectBounds(baselineMs, this.#options);
    const afterMs = startMs - longestSpan * this.#options.window;
    const late = this.#counts.filter((count) => count.startMs > afterMs);
    this.#counts = late.slice(-(longestRun - 1));
    this.#counts.push({
      startMs,
      requests,
      exceedances: requests * (1 - digest.cdf(baselineMs)),
      beyondHalf: requests * (1 - digest.cdf(halfEffectMs)),
      beyondEffect: requests * (1 - digest.cdf(effectMs)),
    });
    const windows = Math.min(evidence.windows, maxLeaveWindows);
    const sums = { requests: 0, exceedances: 0, beyondHalf: 0, beyondEffect: 0, isTrickle: false };
    for (let back = 1; back <= this.#counts.length; back++) {
      if (back > windows && sums.requests >= this.#options.min_requests) break;
      const count = this.#counts.at(-back) as LeadCount;
      sums.isTrickle ||= back > windows;
      sums.requests += count.requests;
      sums.exceedances += count.exceedances;
      sums.beyondHalf += count.beyondHalf;
      sums.beyondEffect += count.beyondEffect;
    }
    return sums;
  }

  /**
   * Adds the last window up, for as long as requests are lacking to an effect worth a page (Page, "Continuous
   * inspection schemes", 1954). After a small shift, or when the day has made what it was held against a little too
   * low, single minutes go on to look like it, and enough quiet ones never follow each other.
   */
  #sumLacking(startMs: number, { requests, digest }: StageSummary, isBeside: boolean): void {
    const { baselineMs } = this;
    const { quantile } = this.event;
    const { effectMs } = effectBounds(baselineMs, this.#options);
    const worthMs = baselineMs + leastLeft * (effectMs - baselineMs);
    this.#lacking += requests * (digest.cdf(worthMs) - quantile);
    this.#logRatio += this.#logRatioOf(this.#counts.at(-1) as LeadCount);
    this.#windows += 1;
    this.#windowsBeside += isBeside ? 1 : 0;
    if (this.#lacking > 0 && !Number.isNaN(this.#worthMs)) return;
    this.#worthMs = startMs;
    this.#windows = 0;
    this.#windowsBeside = 0;
    this.#lacking = 0;
    this.#logRatio = 0;
  }

  #isLongBeneath(startMs: number): boolean {
    const isLong = startMs - this.#worthMs >= this.#patience.decayedMs;
    if (!isLong || this.#windowsBeside >= partBeside * this.#windows) return false;
    return this.#logRatio <= this.event.evidence.dispersion * logSure;
  }

  #isOut(sums: LeadSums): boolean {
    const { quantile: q, evidence } = this.event;
    const { requests, exceedances, beyondHalf, isTrickle } = sums;
    const logTail = (k: number) => logExceedanceTail(k, requests, 1 - q, evidence.dispersion);
    if (logTail(exceedances) <= logSmall) return true;
    return this.#isAboveHalf(sums) && (!isTrickle || logTail(beyondHalf) <= logOfTrickle);
  }

  /** Whether the quantile has risen by half of the least effect, chance or not. */
  #isAboveHalf({ requests, beyondHalf }: LeadCounts): boolean {
    return beyondHalf >= (1 - this.event.quantile) * requests;
  }

  /**
   * Whether requests are clearly what is usual, and not what was told: as many exceedances are a hundred times
   * likelier of the usual share, and the quantile is not out by all of the least effect. The baseline is as the
   * incident found it; what the hours since have made of it is no incident.
   */
  #isAtBaseline(sums: LeadCounts): boolean {
    const { quantile, evidence } = this.event;
    if (sums.beyondEffect >= (1 - quantile) * sums.requests) return false;
    return this.#logRatioOf(sums) <= evidence.dispersion * logSure;
  }

  /** Whether each of the last windows, by itself, is nearer to what is usual: what comes and goes is not over yet. */
  get #isSettled(): boolean {
    return this.#counts.slice(-maxLeaveWindows).every((count) => this.#logRatioOf(count) < 0);
  }

  /** ln of how much likelier as many exceedances are of the share that was told, than of the usual one. */
  #logRatioOf({ requests, exceedances }: LeadCounts): number {
    const { quantile, requests: of, evidence } = this.event;
    const baseline = 1 - quantile;
    const share = Math.min(maxShare, Math.max(baseline, evidence.exceedances / of));
    return (
      exceedances * Math.log(share / baseline) +
      (requests - exceedances) * Math.log((1 - share) / (1 - baseline))
    );
  }

  /** The event as it goes out, the first time. */
  announce(nowMs: number): AnomalyEvent {
    return this.#chain.announce(nowMs);
  }

  /** Whether `update` may have something to tell of a stage, so that it is worth measuring. */
  mayUpdate(stage: string): boolean {
    const mayRise = stage === totalStage && this.event.severity !== 'critical';
    return mayRise || this.#chain.isUpdateDue;
  }

  /**
   * An event when the anomaly has changed so much that people should know: it has become critical,
   * has grown by half, has another culprit, or the total is out after one of its stages. All but
   * the first must be out by the least effect just now, when the last event has rested, and blame no other stage
   * than the last one unless that one's own requests show it. Severity never falls, so that it does not swing.
   *
   * @param out stages that are out, each by its own requests.
   * @param baselineFactor how far the day has moved the baseline that it is measured by.
   */
  update(
    measured: Measured,
    summary: string,
    nowMs: number,
    out: readonly string[],
    baselineFactor = 1,
  ): AnomalyEvent | undefined {
    const { severity, ratio, stage, blame } = measured;
    const last = this.event;
    const isOther = stage !== last.stage;
    const isDoubtful = isOther && !isBorneOut(stage, out);
    const culprit = isOther && (blame[0]?.share ?? 0) >= materialShare ? stage : '';
    const culpritHolds = culprit !== '' && culprit === this.#newCulprit;
    this.#newCulprit = culprit;
    const rises = last.severity !== 'critical' && severity === 'critical';
    const rested = this.#chain.isUpdateDue;
    const isOut =
      measured.observed_ms >= effectBounds(measured.baseline_ms, this.#options).effectMs;
    const promoted = measured.evidence.measured_stage !== last.evidence.measured_stage;
    const grown = ratio >= materialGrowth * Math.max(this.#mostRatio, last.ratio);
    const isNews = grown || culpritHolds || promoted;
    if (!rises && !(isOut && rested && isNews && !isDoubtful)) return undefined;
    this.#baselineFactor = baselineFactor;
    this.#measuredTimes = baselineFactor;
    this.#mostRatio = promoted ? ratio : Math.max(this.#mostRatio, last.ratio, ratio);
    if (promoted) {
      this.#counts = [];
      this.#worthMs = Number.NaN;
    }
    const renewed = { ...measured, severity: rises ? severity : last.severity, summary };
    return this.#chain.update(renewed, nowMs);
  }

  /** The last event. `nowQuantileMs`: the leading quantile in the window that resolved it. */
  resolve(resolution: Resolution, nowMs: number, nowQuantileMs: number | undefined): AnomalyEvent {
    const summary = this.#resolvedSummary(resolution, nowMs, nowQuantileMs);
    return this.#chain.resolve(resolution, summary, nowMs);
  }

  #resolvedSummary(resolution: Resolution, nowMs: number, nowQuantileMs?: number): string {
    const event = this.event;
    const subject = anomalySubject(event);
    const baseline = formatMs(this.baselineMs);
    const now = nowQuantileMs === undefined ? undefined : formatMs(nowQuantileMs);
    if (resolution === 'no_traffic') return `${subject}: too few requests to evaluate`;
    if (resolution === 'recovered')
      return `${subject} recovered${now === undefined ? '' : `: ${now}`} (baseline ${baseline})`;
    const stayed = now === undefined ? 'high' : `at ${now}`;
    const lasted = durationText(nowMs - this.#chain.startedAtMs);
    return `${subject} has stayed ${stayed} for ${lasted} and is now the baseline (was ${baseline})`;
  }
}

/** Whether the requests of a stage that is blamed show it; of what no stage has, whether none of theirs does. */
function isBorneOut(blamed: string, out: readonly string[]): boolean {
  return blamed === unaccounted ? out.every((stage) => stage === totalStage) : out.includes(blamed);
}
