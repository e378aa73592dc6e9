import { totalStage } from '../../base/dimensions.ts';
import { type AnomalyEvent, type Resolution, unaccounted } from '../../contract/anomaly-event.ts';
import { durationText, formatMsOf } from '../../contract/format.ts';
import type { StageSummary } from '../../series/series-window.ts';
import { type StateArchive, serializeFields } from '../../snapshot/archive.ts';
import { anomalySubject } from '../event/anomaly-summary.ts';
import { type EventUpdate, OpenAnomaly } from '../lifecycle/open-anomaly.ts';
import { longestRun, longestSpan, stageTableOf } from '../options/detect-options.ts';
import { logExceedanceTail } from '../stats/exceedance-tail.ts';
import type { Measured } from './open-event.ts';
import { leadOf, noLead, type TailLead } from './tail-lead.ts';
import { logRatioOf, TailRecovery } from './tail-recovery.ts';
import { effectBounds, effectOptionsOf } from './tail-threshold.ts';

/** Counts of one window of the leading stage, or of several together. */
const noCounts = { requests: 0, exceedances: 0, beyondHalf: 0, beyondEffect: 0 };
type LeadCounts = Readonly<typeof noCounts>;
type LeadWindow = LeadCounts & { readonly startMs: number };

/** Sparse where more windows than opening used were needed to reach `min_requests`. */
type LeadSums = LeadCounts & { readonly isSparse: boolean };

/** Context of the window from outside the leading stage. Other stages are those of the same cause. */
interface WindowContext {
  /** The leading stage's evidence grows. */
  readonly isRising?: boolean;
  /** Another stage exceeds in this window. */
  readonly isOtherExceeding?: boolean;
  /** Another stage has been anomalous up to this window. */
  readonly isOtherAnomalous?: boolean;
  /** Factor by which the time of day has moved the baseline since its last learnt window. */
  readonly baselineFactor?: number;
  /** Pause after which the series has no traffic, where that is known. */
  readonly noTrafficAfterMs?: number;
}

/**
 * Sums since the tail was last pageable, and that time: windows, those with another stage exceeding or
 * anomalous, deficit of slow requests, and log-likelihood ratio of the emitted share over the baseline.
 */
const nothingSince = {
  pageableMs: Number.NaN,
  windows: 0,
  concurrentWindows: 0,
  deficit: 0,
  logRatio: 0,
};

/** Tuned with `npm run eval`; test/detect/tail/open-tail.test.ts holds them. */
const tuned = {
  /** Resolving evaluates as many windows as opening did, up to this many. */
  maxLeaveWindows: 6,
  logSmall: Math.log(1e-2),
  /** Significance threshold of sparse traffic: one slow request stays among the last thirty for minutes. */
  logSparse: Math.log(0.1),
  /** Log-likelihood ratio from which requests clearly match the baseline. */
  logSure: Math.log(1e-2),
  /** Part of the least effect below which, in the long run, a tail is not pageable. */
  pageableShare: 3 / 4,
  /** Part of windows with another stage exceeding or anomalous from which an anomaly has not decayed. */
  concurrentShare: 1 / 20,
  /** Growth of the ratio since the last event that needs an update. */
  materialGrowth: 1.5,
  /** Clear windows after which it is over once it has surely recovered; else all that `policy` asks for. */
  sureClearWindows: 3,
  /** Share of the excess that a new culprit must explain, in two windows in a row. */
  materialShare: 0.5,
} as const;

/**
 * An anomaly from opening to resolving. Its event alone (stage, quantile, baseline, dispersion) decides whether
 * the tail still exceeds: a detector restored from it decides as the one that opened it.
 */
export class OpenTail extends OpenAnomaly {
  #counts: LeadWindow[] = [];
  /** Factors by which the time of day had moved the baseline: in the last window, and when measured. */
  #baselineFactor = 1;
  #measuredFactor = 1;
  #newCulprit = '';
  /** Largest ratio emitted so far for the measured stage. */
  #largestRatio = 0;
  #since = { ...nothingSince };
  #hasDecayed = false;
  readonly #recovery = new TailRecovery(measuredMsOf(this.event));
  #followed: TailLead | undefined;
  #explained: readonly string[] = [];

  override serialize(state: StateArchive): void {
    super.serialize(state);
    state.section('open tail', 3, () => {
      this.#recovery.serialize(state);
      this.#followed = state.optional(this.#followed, (lead) =>
        serializeFields(state, lead, noLead),
      );
      this.#explained = state.list(this.#explained, (stage = '') => state.text(stage));
      const noWindow = { startMs: 0, ...noCounts };
      this.#counts = state.list(this.#counts, (one) => serializeFields(state, one, noWindow));
      this.#baselineFactor = state.number(this.#baselineFactor);
      this.#measuredFactor = state.number(this.#measuredFactor);
      this.#newCulprit = state.text(this.#newCulprit);
      this.#largestRatio = state.number(this.#largestRatio);
      this.#since = serializeFields(state, this.#since, nothingSince);
    });
  }

  /** Baseline of the lead's quantile, at the time of day of the last window. */
  get baselineMs(): number {
    return (this.lead.baselineMs * this.#baselineFactor) / this.#measuredFactor;
  }

  /** Another stage may hold it open, of which the total's tail shows nothing any more. */
  override get isBack(): boolean {
    const { baseline_ms, observed_ms, evidence } = this.now;
    return observed_ms < this.#effectBounds(evidence.measured_stage, baseline_ms).halfEffectMs;
  }

  get lead(): TailLead {
    return this.#followed ?? leadOf(this.event);
  }

  /** Follows another stage from now on: while a second cause is open, the total shows both. */
  follow(lead: TailLead, baselineFactor: number): void {
    this.#followed = lead;
    this.#baselineFactor = baselineFactor;
    this.#measuredFactor = baselineFactor;
    this.#counts = [];
    this.#recovery.measured(this.#recovery.endedAtMs);
    this.#since = { ...nothingSince };
  }

  /** Reports whether a stage is slow because of this anomaly; it pages and ends with it. */
  owns(stage: string): boolean {
    return this.ownsAny((own) => own === stage);
  }

  ownsAny(isWanted: (stage: string) => boolean): boolean {
    return (
      isWanted(this.event.stage) || isWanted(this.lead.stage) || this.#explained.some(isWanted)
    );
  }

  /** Owns a stage from now on, as long as the anomaly is open. */
  explain(stage: string): void {
    if (!this.owns(stage)) this.#explained = [...this.#explained, stage];
  }

  /** Evaluates whether the leading stage is anomalous over the last windows; undefined with too few requests. */
  observe(
    windowStartMs: number,
    summary: StageSummary | undefined,
    {
      isRising = false,
      isOtherExceeding = false,
      isOtherAnomalous = false,
      baselineFactor = 1,
      noTrafficAfterMs = 0,
    }: WindowContext = {},
  ): boolean | undefined {
    this.#baselineFactor = baselineFactor;
    if (summary === undefined) return undefined;
    const sums = this.#sumWith(windowStartMs, summary, noTrafficAfterMs);
    const isConcurrent = isOtherExceeding || isOtherAnomalous;
    this.#addToDeficit(windowStartMs, summary, isConcurrent);
    if (sums.requests < this.options.min_requests) return undefined;
    const isNoChance = !sums.isSparse || this.#isAboveHalf(sums);
    const isAtBaseline = this.#isAtBaseline(sums);
    const isTailHigh = this.#isExceeding(sums) && !isAtBaseline;
    const continues = isConcurrent || (isRising && !(isAtBaseline && this.#isSettled));
    this.#hasDecayed = !isOtherExceeding && this.#isDecayed(windowStartMs);
    const isAnomalous = isTailHigh || (continues && isNoChance);
    const { requests, exceedances } = this.#counts.at(-1) as LeadWindow;
    const endMs = windowStartMs + this.options.window;
    // A replay begins with the windows that the event has counted.
    if (endMs > measuredMsOf(this.event)) {
      this.#recovery.observe({
        ...{ requests, exceedances, endMs, isAnomalous },
        emitted: this.lead,
        baselineShare: 1 - this.lead.quantile,
        dispersion: this.lead.dispersion,
        isHeld: isOtherExceeding,
      });
    }
    return isAnomalous;
  }

  /**
   * True after all the clear windows that `policy` asks for. Once the requests have surely recovered, as much time
   * since the tail fell is enough: a window that is slow by chance, or is evaluated with slow ones before it, does
   * not begin that time again.
   */
  override get isOver(): boolean {
    if (super.isOver) return true;
    if (this.clearWindows < tuned.sureClearWindows) return false;
    const neededMs = this.policy.clearWindows * this.options.window;
    const reachedMs = (this.#counts.at(-1)?.startMs ?? Number.NaN) + this.options.window;
    if (reachedMs - this.#recovery.endedAtMs < neededMs) return false;
    return this.#recovery.isSure(Math.max(1, (reachedMs - this.startedAtMs) / neededMs));
  }

  protected override get endedAtMs(): number {
    return this.#recovery.endedAtMs;
  }

  override update(update: EventUpdate, nowMs: number): AnomalyEvent {
    const event = super.update(update, nowMs);
    this.#recovery.measured(measuredMsOf(event));
    return event;
  }

  /** True once the tail has long not been pageable and is far below the emitted one. */
  override get hasDecayed(): boolean {
    return this.#hasDecayed;
  }

  override holdOpen(): void {
    super.holdOpen();
    this.#hasDecayed = false;
    this.#recovery.holdOpen();
  }

  /** Sums the window with those before it: as many as resolving needs, more where they hold few requests. */
  #sumWith(
    startMs: number,
    { requests, digest }: StageSummary,
    noTrafficAfterMs: number,
  ): LeadSums {
    const { baselineMs, lead } = this;
    const { effectMs, halfEffectMs } = this.#effectBounds(lead.stage, baselineMs);
    const afterMs = startMs - Math.max(longestSpan * this.options.window, noTrafficAfterMs);
    const recent = this.#counts.filter((count) => count.startMs > afterMs);
    this.#counts = recent.slice(-(longestRun - 1));
    this.#counts.push({
      startMs,
      requests,
      exceedances: requests * (1 - digest.cdf(baselineMs)),
      beyondHalf: requests * (1 - digest.cdf(halfEffectMs)),
      beyondEffect: requests * (1 - digest.cdf(effectMs)),
    });
    const windows = Math.min(lead.windows, tuned.maxLeaveWindows);
    const sums = { ...noCounts, isSparse: false };
    for (let back = 1; back <= this.#counts.length; back++) {
      if (back > windows && sums.requests >= this.options.min_requests) break;
      const count = this.#counts.at(-back) as LeadWindow;
      sums.isSparse ||= back > windows;
      sums.requests += count.requests;
      sums.exceedances += count.exceedances;
      sums.beyondHalf += count.beyondHalf;
      sums.beyondEffect += count.beyondEffect;
    }
    return sums;
  }

  /**
   * Adds the window's deficit of slow requests to a pageable effect (CUSUM; Page, "Continuous inspection
   * schemes", 1954). After a small shift, or with a baseline a little too low, single minutes keep exceeding.
   * Clear windows alone would then never resolve it.
   */
  #addToDeficit(startMs: number, { requests, digest }: StageSummary, isConcurrent: boolean): void {
    const { baselineMs } = this;
    const { quantile, stage } = this.lead;
    const { effectMs } = this.#effectBounds(stage, baselineMs);
    const pageableMs = baselineMs + tuned.pageableShare * (effectMs - baselineMs);
    const since = this.#since;
    since.deficit += requests * (digest.cdf(pageableMs) - quantile);
    since.logRatio += this.#logRatioOf(this.#counts.at(-1) as LeadWindow);
    since.windows += 1;
    since.concurrentWindows += isConcurrent ? 1 : 0;
    if (since.deficit > 0 && !Number.isNaN(since.pageableMs)) return;
    this.#since = { ...nothingSince, pageableMs: startMs };
  }

  #effectBounds(stage: string, baselineMs: number) {
    return effectBounds(baselineMs, effectOptionsOf(stage, this.options));
  }

  #isDecayed(startMs: number): boolean {
    const { pageableMs, windows, concurrentWindows, logRatio } = this.#since;
    const isLong = startMs - pageableMs >= this.policy.decayedMs;
    if (!isLong || concurrentWindows >= tuned.concurrentShare * windows) return false;
    return logRatio <= this.lead.dispersion * tuned.logSure;
  }

  #isExceeding(sums: LeadSums): boolean {
    const { quantile: q, dispersion } = this.lead;
    const { requests, exceedances, beyondHalf, isSparse } = sums;
    const logTail = (k: number) => logExceedanceTail(k, requests, 1 - q, dispersion);
    if (logTail(exceedances) <= tuned.logSmall) return true;
    return this.#isAboveHalf(sums) && (!isSparse || logTail(beyondHalf) <= tuned.logSparse);
  }

  /** True where the quantile has risen by half of the least effect, significant or not. */
  #isAboveHalf({ requests, beyondHalf }: LeadCounts): boolean {
    return beyondHalf >= (1 - this.lead.quantile) * requests;
  }

  /**
   * True where the exceedances are a hundred times likelier under the baseline than under the emitted share,
   * and the quantile is below the least effect. The baseline is frozen at the start of the incident.
   */
  #isAtBaseline(sums: LeadCounts): boolean {
    const { quantile, dispersion } = this.lead;
    if (sums.beyondEffect >= (1 - quantile) * sums.requests) return false;
    return this.#logRatioOf(sums) <= dispersion * tuned.logSure;
  }

  /** True where each of the last windows alone is closer to the baseline, as of no intermittent fault. */
  get #isSettled(): boolean {
    return this.#counts.slice(-tuned.maxLeaveWindows).every((count) => this.#logRatioOf(count) < 0);
  }

  /** Log-likelihood ratio of the exceedances: the emitted share over the baseline share. */
  #logRatioOf(counts: LeadCounts): number {
    const { quantile, requests, exceedances } = this.lead;
    return logRatioOf(counts, exceedances / requests, 1 - quantile);
  }

  /** False where `change` would return nothing for a stage, so that it need not be measured. */
  mayUpdate(stage: string, isBeside = false): boolean {
    const isCounted = isBeside || stageTableOf(this.options).isWaitedFor(stage);
    const mayRise = isCounted && this.event.severity !== 'critical';
    return mayRise || this.isUpdateDue;
  }

  /**
   * Returns an update where the anomaly has become critical, has grown by half, has another culprit, or now
   * shows in the total. All but the first need the least effect now, and a pause since the last event.
   * Another culprit must be anomalous by its own requests. Severity never falls, so that it does not flap.
   *
   * @param anomalous stages that are anomalous by their own requests.
   * @param baselineFactor factor by which the time of day has moved the measured baseline.
   */
  change(
    measured: Measured,
    summary: string,
    anomalous: readonly string[],
    baselineFactor = 1,
  ): EventUpdate | undefined {
    const { severity, ratio, stage, blame } = measured;
    const last = this.event;
    const isOther = stage !== last.stage;
    const isDoubtful = isOther && !isConfirmed(stage, anomalous);
    const culprit = isOther && (blame[0]?.share ?? 0) >= tuned.materialShare ? stage : '';
    const culpritHolds = culprit !== '' && culprit === this.#newCulprit;
    this.#newCulprit = culprit;
    const { measured_stage } = measured.evidence;
    const isOfOther = measured_stage !== last.evidence.measured_stage;
    const promoted = isOfOther && measured_stage === totalStage;
    // A stage that is followed instead of the total rises only where it got worse itself.
    const mayRise = !isOfOther || promoted || ratio >= tuned.materialGrowth * this.lead.ratio;
    const rises = mayRise && last.severity !== 'critical' && severity === 'critical';
    const hasEffect =
      measured.observed_ms >= this.#effectBounds(measured_stage, measured.baseline_ms).effectMs;
    const grown = ratio >= tuned.materialGrowth * Math.max(this.#largestRatio, last.ratio);
    // The ratio of a stage is no growth over that of the total.
    const isMaterial = (grown && !isOfOther) || culpritHolds || promoted;
    if (!rises && !(hasEffect && this.isUpdateDue && isMaterial && !isDoubtful)) return undefined;
    this.#baselineFactor = baselineFactor;
    this.#measuredFactor = baselineFactor;
    this.#largestRatio = isOfOther ? ratio : Math.max(this.#largestRatio, last.ratio, ratio);
    if (isOfOther) {
      this.#counts = [];
      this.#since.pageableMs = Number.NaN;
    }
    this.#followed = undefined;
    // The former culprit has no cause of its own now.
    if (isOther && !this.#explained.includes(last.stage))
      this.#explained = [...this.#explained, last.stage];
    // What was measured before may have had effects, as the total has none.
    const effects = last.effects === undefined ? {} : { effects: undefined };
    return { ...effects, ...measured, summary };
  }

  override resolve(resolution: Resolution, summary: string, nowMs: number): AnomalyEvent {
    const { stage, quantile } = this.lead;
    const isOther = resolution === 'recovered' && stage !== this.event.evidence.measured_stage;
    const more = isOther ? { recovered: { stage, quantile } } : {};
    return super.resolve(resolution, summary, nowMs, more);
  }

  /** @param nowQuantileMs the leading quantile in the window that resolved it. */
  resolvedSummary(resolution: Resolution, nowMs: number, nowQuantileMs?: number): string {
    const subject = anomalySubject(this.event, this.lead);
    const format = formatMsOf(nowQuantileMs ?? 0, this.baselineMs);
    const baseline = format(this.baselineMs);
    const now = nowQuantileMs === undefined ? undefined : format(nowQuantileMs);
    if (resolution === 'no_traffic') return `${subject}: too few requests to evaluate`;
    if (resolution === 'recovered')
      return `${subject} recovered${now === undefined ? '' : `: ${now}`} (baseline ${baseline})`;
    const stayed = now === undefined ? 'high' : `at ${now}`;
    const lasted = durationText(nowMs - this.startedAtMs);
    return `${subject} has stayed ${stayed} for ${lasted} and is now the baseline (was ${baseline})`;
  }
}

/** True where the blamed stage is anomalous; for unaccounted time, where no stage but the total is. */
function isConfirmed(blamed: string, anomalous: readonly string[]): boolean {
  if (blamed !== unaccounted) return anomalous.includes(blamed);
  return anomalous.every((stage) => stage === totalStage);
}

/** End of the last window that an event has counted; older events say only when that was noticed. */
function measuredMsOf({ measured_at, detected_at }: AnomalyEvent): number {
  return Date.parse(measured_at ?? detected_at);
}
