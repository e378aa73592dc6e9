import { totalStage } from '../../base/dimensions.ts';
import type { BorrowedBaseline } from '../../baseline/borrowed-baseline.ts';
import { SeriesBaseline } from '../../baseline/series-baseline.ts';
import type { SeriesReference, StageReference } from '../../baseline/series-reference.ts';
import type { Series, SeriesWindow } from '../../series/series-window.ts';
import { serializeSeriesWindow } from '../../series/snapshot-series.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import type { AnomalyEvent, Resolution } from '../event/anomaly-event.ts';
import { anomalySummary } from '../event/anomaly-summary.ts';
import { serializeEvent } from '../event/snapshot-event.ts';
import { FlapHistory } from '../lifecycle/flap-history.ts';
import { reconcileOpen } from '../lifecycle/reconcile-open.ts';
import { type DetectOptions, longestRun, quarantineWindows } from '../options/detect-options.ts';
import { BaselineLoan } from '../peers/baseline-loan.ts';
import type { PeakPool } from '../score/peak-pool.ts';
import type { StepContext } from '../step/detector-step.ts';
import { leadOf } from './lead-of.ts';
import { OpenAnomaly } from './open-anomaly.ts';
import { measure, type OpenEventInput, openEvent } from './open-event.ts';
import { Quarantine, type Quarantined } from './quarantine.ts';
import type { ShiftVerdict } from './shift-verdict.ts';
import { StageTests } from './stage-tests.ts';

const minuteMs = 60_000;

/**
 * One series: its baseline, its tests and its anomaly, if one is open. Windows come in order of
 * their start, one step each; every step gives at most one event.
 */
export class SeriesDetector {
  readonly series: Series;
  readonly #options: DetectOptions;
  /** The series that it came after, until all stages have been met; not a chain of all versions. */
  before: SeriesDetector | undefined;
  /** Start of its last window with a request; NaN before the first. */
  lastSeenMs = Number.NaN;
  readonly #tests: StageTests;
  #baseline: SeriesBaseline;
  readonly #loan: BaselineLoan;
  /** What windows that are not learnt would make: the new usual, if they stay. */
  #candidate: SeriesBaseline | undefined;
  #windowsAtBaseline = 0;
  readonly #quarantine = new Quarantine();
  #open: OpenAnomaly | undefined;
  /** The last windows of what is open. */
  #lately: SeriesWindow[] = [];
  /** Windows of it in a row in which the total was out. */
  #totalOut = 0;
  #restored: AnomalyEvent | undefined;
  readonly #openings = new FlapHistory();

  /**
   * @param pool shared by all series.
   * @param before the series of the version before, if there was one.
   */
  constructor(
    series: Series,
    options: DetectOptions,
    pool: PeakPool,
    before: SeriesDetector | undefined,
  ) {
    this.series = series;
    this.#options = options;
    this.#tests = new StageTests(options, pool);
    this.before = before;
    this.#loan = new BaselineLoan(options);
    this.#baseline = this.#newBaseline();
  }

  /** What it lends to a new series; undefined while it has nothing to lend. */
  get lends(): SeriesReference | undefined {
    return this.#loan.lends(this.#baseline, this.isOpen);
  }

  /** The past of others that it is compared with. */
  get borrowed(): BorrowedBaseline | undefined {
    return this.#loan.borrowed;
  }

  /** Compares windows with the past of others from now on; not while an anomaly is open, whose baseline stays. */
  borrow(baseline: BorrowedBaseline): void {
    if (!this.isOpen) this.#loan.begin(baseline);
  }

  /** All but the series before, which is one of its own, and the pool, which is shared. */
  serialize(state: StateArchive): void {
    state.section('series detector', 6, () => {
      this.#tests.serialize(state);
      this.#baseline.serialize(state);
      this.#loan.serialize(state);
      this.#candidate = state.optional(this.#candidate, (candidate = this.#newBaseline()) => {
        candidate.serialize(state);
        return candidate;
      });
      this.#windowsAtBaseline = state.number(this.#windowsAtBaseline);
      this.#quarantine.serialize(state);
      this.#open = state.optional(this.#open, (open) =>
        OpenAnomaly.serialize(state, open, this.#options),
      );
      this.#lately = state.list(this.#lately, (one) => serializeSeriesWindow(state, one));
      this.#totalOut = state.number(this.#totalOut);
      this.#restored = state.optional(this.#restored, (event) => serializeEvent(state, event));
      this.#openings.serialize(state);
      this.lastSeenMs = state.number(this.lastSeenMs);
    });
  }

  get isOpen(): boolean {
    return this.#open !== undefined || this.#restored !== undefined;
  }

  /** Nothing is open, and all that was learnt is older than the baseline. */
  isForgettable(windowStartMs: number): boolean {
    if (this.isOpen) return false;
    return windowStartMs - this.lastSeenMs > this.#options.baseline;
  }

  reference(stage: string): StageReference | undefined {
    return this.#reference.reference(stage, this.#options.min_baseline_windows);
  }

  get testCount(): number {
    return this.#tests.size;
  }

  /** By stages that are judged, in the order in which they were met. */
  get stages(): ReadonlyMap<string, unknown> {
    return this.#tests.stages;
  }

  /** A stage is judged no more: nothing that was learnt of it is kept. Not while an anomaly is open. */
  forgetStage(stage: string): void {
    for (const one of [this.#tests, this.#baseline, this.#candidate]) one?.forget(stage);
    this.#quarantine.dropStage(stage);
  }

  /** Its last windows, six at most. */
  get latestWindows(): readonly SeriesWindow[] {
    return this.#quarantine.windows;
  }

  /** What a stage usually takes; undefined before its first window was learnt. */
  baseline(stage: string): StageReference | undefined {
    return this.#reference.reference(stage, 1);
  }

  /** Goes on with an anomaly that is open by its last event, from its start or the next live step. */
  restore(event: AnomalyEvent): void {
    this.#restored = event;
  }

  /**
   * What others have told counts: the open anomaly goes on by that event, if it is of the same revision.
   */
  adopt(published: AnomalyEvent): void {
    const event = this.#open?.event;
    if (event?.id === published.id && event.revision === published.revision)
      this.#open?.adopt(published);
  }

  /**
   * After windows were judged without telling what came of it, perhaps from more requests than before: what
   * was told counts.
   *
   * @param open the last event of what is open by what was told, if anything is.
   * @param isKnown whether anything was told of an anomaly, by its id.
   */
  reconcile(open: AnomalyEvent | undefined, isKnown: (id: string) => boolean): void {
    const outcome = reconcileOpen(this.#open, open, isKnown);
    this.#restored = outcome === 'other' ? open : undefined;
    if (outcome === 'over') this.#close();
  }

  step(window: SeriesWindow, context: StepContext): AnomalyEvent | undefined {
    const startMs = window.windowStartMs;
    this.lastSeenMs = startMs;
    if (this.#baseline.windows > this.#options.min_baseline_windows) this.before = undefined;
    this.#install(startMs, context.live);
    if (this.#open !== undefined) this.#baseline.advance(startMs);
    const before = this.before === undefined ? undefined : this.before.#tests;
    const verdicts = this.#tests.evaluate(window, context.levels, this.#reference, before);
    const suspicious = verdicts.some((verdict) => verdict.suspicious);
    const suspectFromMs = Math.min(...verdicts.map(({ sinceMs }) => sinceMs));
    this.#quarantine.add(window, suspicious);
    let event: AnomalyEvent | undefined;
    if (this.#open !== undefined) {
      this.#lately = [...this.#lately, window].slice(-longestRun);
      this.#setAside(startMs);
      event = this.#observeOpen(this.#open, window, verdicts, context);
    } else if (verdicts.length > 0) {
      event = this.#openOn(verdicts, context);
    }
    this.#learn(suspectFromMs);
    if (this.#loan.endsWith(window, this.#baseline, this.isOpen)) {
      this.#loan.end();
      this.#tests.rebase();
    }
    return event;
  }

  get #reference(): SeriesReference {
    return this.#loan.reference(this.#baseline);
  }

  /** A window in which the series had no request. */
  missing(windowStartMs: number, context: StepContext): AnomalyEvent | undefined {
    if (Number.isNaN(this.lastSeenMs)) this.lastSeenMs = windowStartMs;
    this.#install(windowStartMs, context.live);
    if (this.#open === undefined) return undefined;
    return this.#endWithoutTraffic(this.#open, windowStartMs, context);
  }

  #install(windowStartMs: number, live: boolean): void {
    const event = this.#restored;
    if (event === undefined) return;
    const startedAtMs = Date.parse(event.started_at);
    if (!live && windowStartMs < startedAtMs) return;
    this.#restored = undefined;
    // A replay may have opened the same anomaly itself; the one that went out counts.
    this.#openings.forgetFrom(startedAtMs);
    const patience = this.#openings.resolvePolicy(startedAtMs, this.#options);
    this.#open = new OpenAnomaly(event, this.#options, true, patience);
    this.#openings.opened(startedAtMs);
  }

  #openOn(verdicts: readonly ShiftVerdict[], context: StepContext): AnomalyEvent | undefined {
    const lead = leadOf(verdicts);
    if (lead === undefined) return undefined;
    const isSince = (one: SeriesWindow) => one.windowStartMs >= lead.startedAtMs;
    const since = this.latestWindows.filter(isSince);
    const latest = since.slice(-Math.max(1, Math.min(lead.windows, quarantineWindows)));
    const event = openEvent(this.#eventInput(lead, latest, context));
    const patience = this.#openings.resolvePolicy(lead.startedAtMs, this.#options);
    this.#open = new OpenAnomaly(event, this.#options, context.live, patience);
    this.#openings.opened(lead.startedAtMs);
    this.#lately = since;
    this.#setAside(lead.startedAtMs);
    const summary = since.at(-1)?.stages.get(lead.stage);
    this.#open.observe(lead.windowStartMs, summary, { isOtherOut: true });
    this.#open.begin();
    return context.live ? event : undefined;
  }

  #observeOpen(
    open: OpenAnomaly,
    window: SeriesWindow,
    verdicts: readonly ShiftVerdict[],
    context: StepContext,
  ): AnomalyEvent | undefined {
    const { evidence, quantile } = open.event;
    const summary = window.stages.get(evidence.measured_stage);
    const total = verdicts.find(({ stage }) => stage === totalStage);
    this.#totalOut = total?.isOut === true ? this.#totalOut + 1 : 0;
    const isLead = (verdict: ShiftVerdict) => verdict.stage === evidence.measured_stage;
    const following = open.observe(window.windowStartMs, summary, {
      isRising: verdicts.some((verdict) => isLead(verdict) && verdict.rising),
      isOtherOut: verdicts.some((verdict) => !isLead(verdict) && verdict.loud),
      isOtherShown: verdicts.some((verdict) => !isLead(verdict) && verdict.isOut),
      baselineFactor: this.#baselineFactor(evidence.measured_stage, quantile),
    });
    if (!context.live && open.announced) {
      open.holdOpen();
      return undefined;
    }
    if (following === undefined) {
      return this.#endWithoutTraffic(open, window.windowStartMs, context);
    }
    if (open.hasPeteredOut) this.#openings.decayed(window.windowStartMs);
    if (open.isOver)
      return this.#end(open, 'recovered', context, summary?.digest.quantile(quantile));
    if (this.#isRebaselined(open, window.windowStartMs)) {
      const event = this.#end(open, 'rebaselined', context, summary?.digest.quantile(quantile));
      this.#rebaseline();
      return event;
    }
    if (!context.live || following === 'quiet') return undefined;
    if (!open.announced) {
      return leadOf(verdicts) === undefined ? undefined : open.announce(context.nowMs);
    }
    // A stage that was seen first gives way to the total once that is out too.
    const ofTotal = leadOf(verdicts.filter((verdict) => verdict.stage === totalStage));
    const isOfStage = evidence.measured_stage !== totalStage;
    if (isOfStage && ofTotal !== undefined && this.#mayLead(open, window.windowStartMs)) {
      return this.#update(open, ofTotal, ofTotal.q, verdicts, context);
    }
    return this.#update(open, verdicts.find(isLead), quantile, verdicts, context);
  }

  /** Whether the total, which is out, may take over from a stage: in hours it comes to be out by chance, too. */
  #mayLead({ startedAtMs }: OpenAnomaly, windowStartMs: number): boolean {
    const isYoung = windowStartMs - startedAtMs < this.#options.baseline;
    return isYoung || this.#totalOut >= longestRun;
  }

  /** Measures it by all of its last minutes: what a window or two show of a tail is mostly chance. */
  #update(
    open: OpenAnomaly,
    lead: ShiftVerdict | undefined,
    q: number,
    verdicts: readonly ShiftVerdict[],
    context: StepContext,
  ): AnomalyEvent | undefined {
    if (lead === undefined || !open.mayUpdate(lead.stage)) return undefined;
    const lately = this.#lately;
    const counted = lately.filter(({ stages }) => stages.has(lead.stage)).length;
    const verdict = this.#tests.of(lead.stage)?.over(lead, q, counted);
    if (verdict === undefined || verdict.exceedances <= verdict.expected) return undefined;
    const { event } = open;
    // Another quantile may show it more by now: the one that was told is held against its own baseline.
    const isSame = verdict.stage === event.evidence.measured_stage && q === event.quantile;
    const held = isSame ? { ...verdict, thresholdMs: open.baselineMs } : verdict;
    const measured = measure(this.#eventInput(held, lately, context));
    const summary = anomalySummary({ ...event, ...measured });
    const out = verdicts.filter(({ isOut }) => isOut).map(({ stage }) => stage);
    const baselineFactor = this.#baselineFactor(verdict.stage, q);
    return open.update(measured, summary, context.nowMs, out, baselineFactor);
  }

  /** How far the day has moved the baseline since its last window was learnt. */
  #baselineFactor(stage: string, q: number): number {
    return this.#reference.reference(stage, 1)?.course?.timesAt(q) ?? 1;
  }

  #endWithoutTraffic(
    open: OpenAnomaly,
    windowStartMs: number,
    context: StepContext,
  ): AnomalyEvent | undefined {
    const patienceMs = Math.max(10 * minuteMs, 30 * this.#options.window);
    if (open.silentMs(windowStartMs) < patienceMs) return undefined;
    if (!context.live && open.announced) return undefined;
    return this.#end(open, 'no_traffic', context);
  }

  #end(
    open: OpenAnomaly,
    resolution: Resolution,
    context: StepContext,
    nowQuantileMs?: number,
  ): AnomalyEvent | undefined {
    if (resolution === 'recovered') this.#tests.endEmitted(context.levels);
    this.#close();
    if (resolution !== 'rebaselined') {
      this.#candidate = undefined;
      // What was usual before is usual again, however long ago that was.
      this.#baseline.hold(this.lastSeenMs);
    }
    const event = open.resolve(resolution, context.nowMs, nowQuantileMs);
    return open.announced ? event : undefined;
  }

  #close(): void {
    this.#open = undefined;
    this.#lately = [];
    this.#totalOut = 0;
    this.#tests.forgetRun();
  }

  #isRebaselined(open: OpenAnomaly, windowStartMs: number): boolean {
    const { rebaseline_after, baseline, min_baseline_windows: least } = this.#options;
    const isLong = windowStartMs - open.startedAtMs >= Math.max(rebaseline_after, baseline);
    return isLong && (this.#candidate?.windows ?? 0) >= least;
  }

  /** The candidate becomes the baseline, and every test compares with it from now on. */
  #rebaseline(): void {
    this.#baseline = this.#candidate ?? this.#newBaseline();
    this.#loan.end();
    this.#candidate = undefined;
    this.#quarantine.withdraw(Number.NEGATIVE_INFINITY);
    this.#tests.rebase();
  }

  /** Windows from here on belong to an anomaly: the candidate learns them, the baseline never. */
  #setAside(fromMs: number): void {
    for (const window of this.#quarantine.withdraw(fromMs)) {
      this.#candidate ??= this.#newBaseline();
      this.#candidate.learn(window);
    }
  }

  /**
   * Lets the oldest window out of quarantine, and has the baseline learn what nothing speaks against.
   *
   * @param suspectFromMs since when something seems wrong: a slow fault must not become the usual before it is
   * found. What seems wrong for half a baseline is learnt all the same.
   */
  #learn(suspectFromMs: number): void {
    const entry = this.#quarantine.release();
    if (entry !== undefined) {
      // The tests learn odd windows too: leaving them out would make the next one look odder.
      const unlearnt = this.#open === undefined ? 'over' : 'told';
      this.#tests.learn(entry.window.windowStartMs, entry.learnable ? 'learnt' : unlearnt);
    }
    const heldFromMs = Math.max(suspectFromMs, this.lastSeenMs - this.#options.baseline / 2);
    for (const held of this.#quarantine.before(heldFromMs)) {
      if (held.learnable) this.#learnOne(held);
    }
  }

  #learnOne(entry: Quarantined): void {
    if (entry.suspicious) {
      this.#windowsAtBaseline = 0;
      this.#candidate ??= this.#newBaseline();
      this.#candidate.learn(entry.window);
      this.#rebaselineUnopened();
      return;
    }
    this.#baseline.learn(entry.window);
    this.#windowsAtBaseline += 1;
    if (this.#windowsAtBaseline >= quarantineWindows && this.#open === undefined) {
      this.#candidate = undefined;
    }
  }

  /** Odd windows that never sufficed to page become usual after a baseline's length. */
  #rebaselineUnopened(): void {
    if (this.#open !== undefined || this.#candidate === undefined) return;
    const ageMs = this.lastSeenMs - this.#candidate.firstMs;
    if (ageMs < this.#options.baseline) return;
    if (this.#candidate.windows >= this.#options.min_baseline_windows) this.#rebaseline();
  }

  #eventInput(
    verdict: ShiftVerdict,
    windows: readonly SeriesWindow[],
    context: StepContext,
  ): OpenEventInput {
    return {
      series: this.series,
      verdict,
      windows,
      baseline: this.#reference,
      baselineOf: this.#loan.differencesTo(this.series),
      totalRequests: context.totalRequests,
      nowMs: context.nowMs,
      options: this.#options,
    };
  }

  #newBaseline(): SeriesBaseline {
    return new SeriesBaseline(this.#options.baseline, this.#options.window);
  }
}
