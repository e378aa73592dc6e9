import { totalStage } from '../../base/dimensions.ts';
import type { BorrowedBaseline } from '../../baseline/borrowed-baseline.ts';
import { RenewableBaseline } from '../../baseline/renewable-baseline.ts';
import { SeriesBaseline } from '../../baseline/series-baseline.ts';
import type { SeriesReference, StageReference } from '../../baseline/series-reference.ts';
import type { AnomalyEvent, Resolution } from '../../contract/anomaly-event.ts';
import type { Series, SeriesWindow } from '../../series/series-window.ts';
import { serializeSeriesWindow } from '../../series/snapshot-series.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import { anomalySummary } from '../event/anomaly-summary.ts';
import type { AnomalyOwner } from '../lifecycle/anomaly-detector.ts';
import type { AnomalyLifecycle, Evaluation } from '../lifecycle/anomaly-lifecycle.ts';
import type { EventUpdate } from '../lifecycle/open-anomaly.ts';
import { type DetectOptions, longestRun, quarantineWindows } from '../options/detect-options.ts';
import type { StepContext } from '../options/detector-step.ts';
import { BaselineLoan } from '../peers/baseline-loan.ts';
import type { PeakPool } from '../score/peak-pool.ts';
import { besideVerdict, leadingVerdict, sinceCause } from './leading-stage.ts';
import { measure, type OpenEventInput, openEvent, presentWindows } from './open-event.ts';
import type { OpenTail } from './open-tail.ts';
import { OpenTails } from './open-tails.ts';
import { comparedNow, isRisen, presentOf, presentVerdict } from './present-tail.ts';
import { Quarantine, type Quarantined } from './quarantine.ts';
import type { ShiftTest } from './shift-test.ts';
import type { ShiftVerdict } from './shift-verdict.ts';
import { StageTests } from './stage-tests.ts';
import { noTrafficAfterMs } from './tail-counts.ts';
import { stageLead } from './tail-lead.ts';

/**
 * Detector of one series: its baseline, its tests and its open anomalies, one a cause. Windows come in order
 * of their start, one step each.
 */
export class SeriesDetector implements AnomalyOwner {
  readonly series: Series;
  readonly #options: DetectOptions;
  /** Series of the previous version, until this one has learnt enough windows; never a chain of versions. */
  before: SeriesDetector | undefined;
  /** Start of the last window with a request; NaN before the first. */
  lastSeenMs = Number.NaN;
  readonly #tests: StageTests;
  readonly #baselines: RenewableBaseline<SeriesBaseline>;
  readonly #loan: BaselineLoan;
  #windowsAtBaseline = 0;
  readonly #quarantine = new Quarantine();
  readonly #tails: OpenTails;
  /** Last windows since an anomaly is open. */
  #recent: SeriesWindow[] = [];
  /** Windows of these in a row in which the total was anomalous. */
  #totalAnomalous = 0;

  /**
   * @param pool shared by all series.
   * @param before the series of the previous version.
   */
  constructor(
    series: Series,
    options: DetectOptions,
    pool: PeakPool,
    before: SeriesDetector | undefined,
  ) {
    this.#tails = new OpenTails(options);
    this.series = series;
    this.#options = options;
    this.#tests = new StageTests(options, pool);
    this.before = before;
    this.#loan = new BaselineLoan(options);
    const { baseline, window } = options;
    this.#baselines = new RenewableBaseline(() => new SeriesBaseline(baseline, window));
  }

  get isOpen(): boolean {
    return this.#tails.isOpen;
  }

  restore(event: AnomalyEvent): void {
    this.#tails.restore(event);
  }

  adopt(published: AnomalyEvent): void {
    this.#tails.adopt(published);
  }

  reconcile(open: readonly AnomalyEvent[], isPublished: (id: string) => boolean): void {
    for (const tail of this.#tails.reconcile(open, isPublished)) {
      for (const test of this.#close(tail, [])) test.forgetRun();
    }
  }

  get #baseline(): SeriesBaseline {
    return this.#baselines.current;
  }

  /** Reference lent to a new series; undefined while there is none to lend. */
  get lends(): SeriesReference | undefined {
    return this.#loan.lends(this.#baseline, this.isOpen);
  }

  /** Baseline borrowed from other series. */
  get borrowed(): BorrowedBaseline | undefined {
    return this.#loan.borrowed;
  }

  /** Compares windows with a borrowed baseline from now on. An open anomaly keeps its baseline. */
  borrow(baseline: BorrowedBaseline): void {
    if (!this.isOpen) this.#loan.borrowed = baseline;
  }

  /** Leaves out the shared pool and the previous version's series, which are saved elsewhere. */
  serialize(state: StateArchive): void {
    state.section('series detector', 8, () => {
      this.#tests.serialize(state);
      this.#baselines.serialize(state);
      this.#loan.serialize(state);
      this.#windowsAtBaseline = state.number(this.#windowsAtBaseline);
      this.#quarantine.serialize(state);
      this.#tails.serialize(state);
      this.#recent = state.list(this.#recent, (one) => serializeSeriesWindow(state, one));
      this.#totalAnomalous = state.number(this.#totalAnomalous);
      this.lastSeenMs = state.number(this.lastSeenMs);
    });
  }

  /** True where no anomaly is open and the last request is older than the baseline's span. */
  isForgettable(windowStartMs: number): boolean {
    return !this.isOpen && windowStartMs - this.lastSeenMs > this.#options.baseline;
  }

  reference(stage: string): StageReference | undefined {
    return this.#reference.reference(stage, this.#options.min_baseline_windows);
  }

  /** Evaluated stages as keys, in the order in which they first occurred. */
  get stages(): ReadonlyMap<string, unknown> {
    return this.#tests.byStage;
  }

  /** Drops a stage and its state. The caller must not do so while an anomaly is open. */
  forgetStage(stage: string): void {
    const { current, candidate } = this.#baselines;
    for (const one of [this.#tests, current, candidate]) one?.forget(stage);
    this.#quarantine.dropStage(stage);
  }

  /** Last windows, six at most. */
  get latestWindows(): readonly SeriesWindow[] {
    return this.#quarantine.windows;
  }

  /** Baseline of a stage; undefined before its first learnt window. */
  baseline(stage: string): StageReference | undefined {
    return this.#reference.reference(stage, 1);
  }

  step(window: SeriesWindow, context: StepContext): AnomalyEvent[] {
    const startMs = window.windowStartMs;
    this.lastSeenMs = startMs;
    if (this.#baseline.windows > this.#options.min_baseline_windows) this.before = undefined;
    this.#tails.install(startMs, context.live);
    const isOpen = this.#tails.open.length > 0;
    if (isOpen) this.#baseline.advance(startMs);
    const before = this.before === undefined ? undefined : this.before.#tests;
    const verdicts = this.#tests.evaluate(window, context.levels, this.#reference, before);
    const suspicious = verdicts.some((verdict) => verdict.suspicious);
    const suspectFromMs = Math.min(...verdicts.map(({ sinceMs }) => sinceMs));
    this.#quarantine.add(window, suspicious);
    if (isOpen) {
      this.#recent = [...this.#recent, window].slice(-longestRun);
      this.#withhold(startMs);
      this.#attribute(verdicts);
    }
    const events =
      isOpen || verdicts.length > 0
        ? this.#tails.step(startMs, context, (lifecycle) =>
            this.#evaluation(lifecycle, window, verdicts, context),
          )
        : [];
    this.#learn(suspectFromMs);
    if (this.#loan.endsWith(window, this.#baseline, this.isOpen)) this.#endLoan();
    return events;
  }

  get #reference(): SeriesReference {
    return this.#loan.reference(this.#baseline);
  }

  /** Steps over a window in which the series had no request. */
  missing(windowStartMs: number, context: StepContext): AnomalyEvent[] {
    if (Number.isNaN(this.lastSeenMs)) this.lastSeenMs = windowStartMs;
    if (!this.isOpen) return [];
    return this.#tails.step(windowStartMs, context, (lifecycle) =>
      this.#evaluation(lifecycle, undefined, [], context),
    );
  }

  /** Counts the window's unusual stages to the anomalies that explain them, and tells two causes apart. */
  #attribute(verdicts: readonly ShiftVerdict[]): void {
    const total = verdicts.find(({ stage }) => stage === totalStage);
    this.#totalAnomalous = total?.anomalous === true ? this.#totalAnomalous + 1 : 0;
    this.#tails.explain(verdicts);
    const { open } = this.#tails;
    if (open.length < 2) return;
    const [latest] = open.toSorted((a, b) => b.startedAtMs - a.startedAtMs) as [OpenTail];
    const before = this.#recent.filter((window) => window.windowStartMs < latest.startedAtMs);
    for (const tail of open) {
      const { stage } = tail.event;
      const reference = this.#reference.reference(stage, 1);
      if (tail.lead.stage !== totalStage || reference === undefined) continue;
      const lead = stageLead(tail.lead, stage, reference.digest, before);
      tail.follow(lead, this.#baselineFactor(stage, lead.quantile));
    }
  }

  /** @param window undefined where the series had no request. */
  #evaluation(
    lifecycle: AnomalyLifecycle<OpenTail>,
    window: SeriesWindow | undefined,
    verdicts: readonly ShiftVerdict[],
    context: StepContext,
  ): Evaluation<OpenTail> {
    let isEvaluated = false;
    const { open } = lifecycle;
    const others = this.#tails.open.filter((tail) => tail !== open);
    const lead = () =>
      others.length === 0
        ? leadingVerdict(verdicts, this.#options)
        : besideVerdict(verdicts, others, this.#options);
    return {
      noTrafficAfterMs:
        open === undefined ? 0 : noTrafficAfterMs(this.baseline(open.lead.stage), this.#options),
      isAnomalous: (open) => {
        const isAnomalous = window && this.#observe(open, window, verdicts);
        isEvaluated = isAnomalous !== undefined;
        return isAnomalous;
      },
      opening: () => this.#opening(lead(), verdicts, others.length > 0, context),
      opened: (open) => this.#opened(open, lead() as ShiftVerdict, others.length > 0),
      update: (open) => this.#update(open, verdicts, context),
      present: (open) => (window ? this.#present(open, verdicts, context) : undefined),
      // Without enough requests to evaluate it does not become the baseline.
      isRebaselinable: () => isEvaluated && this.#isCandidateLearned,
      resolvedSummary: (open, resolution) => {
        const { stage, quantile } = open.lead;
        const digest = window?.stages.get(stage)?.digest;
        const nowQuantileMs = resolution === 'no_traffic' ? undefined : digest?.quantile(quantile);
        return open.resolvedSummary(resolution, context.nowMs, nowQuantileMs);
      },
      ended: (resolution, open) => this.#ended(open, resolution, verdicts, context),
    };
  }

  #opening(
    lead: ShiftVerdict | undefined,
    verdicts: readonly ShiftVerdict[],
    isBeside: boolean,
    context: StepContext,
  ): AnomalyEvent | undefined {
    if (lead === undefined) return undefined;
    const from = (verdict: ShiftVerdict) => {
      const count = Math.max(1, Math.min(verdict.windows, quarantineWindows));
      const latest = this.#windowsSince(verdict.startedAtMs).slice(-count);
      return openEvent(this.#eventInput(verdict, latest, isBeside, context));
    };
    const event = from(lead);
    const since = sinceCause(lead, event.stage, verdicts, this.#options);
    return since === lead ? event : from(since);
  }

  /** Excludes the windows of the anomaly that has opened, and observes the last one. */
  #opened(open: OpenTail, lead: ShiftVerdict, isBeside: boolean): void {
    if (!isBeside) this.#recent = this.#windowsSince(lead.startedAtMs);
    this.#withhold(lead.startedAtMs);
    const summary = this.#recent.at(-1)?.stages.get(lead.stage);
    const isAnomalous = open.observe(lead.windowStartMs, summary, { isOtherExceeding: true });
    if (isAnomalous !== undefined) open.count(lead.windowStartMs, isAnomalous);
  }

  #windowsSince(startMs: number): SeriesWindow[] {
    return this.latestWindows.filter((window) => window.windowStartMs >= startMs);
  }

  #observe(
    open: OpenTail,
    window: SeriesWindow,
    verdicts: readonly ShiftVerdict[],
  ): boolean | undefined {
    const { lead } = open;
    const others = verdicts.filter((each) => this.#tails.isOther(open, each, verdicts));
    return open.observe(window.windowStartMs, window.stages.get(lead.stage), {
      isRising: verdicts.some(({ stage, rising }) => stage === lead.stage && rising),
      isOtherExceeding: others.some(({ exceeding }) => exceeding),
      isOtherAnomalous: others.some(({ anomalous }) => anomalous),
      baselineFactor: this.#baselineFactor(lead.stage, lead.quantile),
      noTrafficAfterMs: noTrafficAfterMs(this.baseline(lead.stage), this.#options),
    });
  }

  /**
   * Measures the leading stage as it is now, over enough requests: a tail over a window or two is mostly chance.
   * The total takes the lead over a stage once it opens, too; over hours it does so by chance, and with a second
   * cause it says nothing of this one, nor of one that began as the second.
   */
  #update(
    open: OpenTail,
    verdicts: readonly ShiftVerdict[],
    context: StepContext,
  ): EventUpdate | undefined {
    const { event, lead } = open;
    const isAlone = this.#tails.isAlone(open, this.series);
    const isYoung = this.lastSeenMs - open.startedAtMs < this.#options.baseline;
    const mayTotalLead = isAlone && (isYoung || this.#totalAnomalous >= longestRun);
    const total = verdicts.find(({ stage, opens }) => stage === totalStage && opens);
    const newLead = lead.stage !== totalStage && mayTotalLead ? total : undefined;
    const current = newLead ?? verdicts.find(({ stage }) => stage === lead.stage);
    // The total shows a later cause, too, as soon as that one is unusual.
    const isMixed = verdicts.some((verdict) => this.#tails.isLater(open, verdict));
    if (isMixed && current?.stage === totalStage) return undefined;
    if (current === undefined || !open.mayUpdate(current.stage, !isAlone)) return undefined;
    const q = newLead?.q ?? lead.quantile;
    const recent = presentWindows(this.#recent, open.startedAtMs, current.stage, this.#options);
    const verdict = this.#tests.byStage.get(current.stage)?.over(current, q, recent.length);
    const measured = verdict && this.#measure(open, verdict, recent, context);
    if (measured === undefined || !isRisen(measured)) return undefined;
    const summary = anomalySummary({ ...event, ...measured });
    const stages = verdicts.filter(({ anomalous }) => anomalous).map(({ stage }) => stage);
    return open.change(measured, summary, stages, this.#baselineFactor(current.stage, q));
  }

  #present(open: OpenTail, verdicts: readonly ShiftVerdict[], context: StepContext) {
    const { stage } = open.lead;
    if (this.#tails.isMixed(open, verdicts)) return undefined;
    const recent = presentWindows(this.#recent, open.startedAtMs, stage, this.#options);
    const current = verdicts.find((verdict) => verdict.stage === stage);
    const verdict = presentVerdict(open, current, recent);
    return verdict && presentOf(open, this.#measure(open, verdict, recent, context));
  }

  #measure(open: OpenTail, verdict: ShiftVerdict, recent: SeriesWindow[], context: StepContext) {
    const { compared, asOf } = comparedNow(open, verdict, context);
    const isBeside = !this.#tails.isAlone(open, this.series);
    return measure(this.#eventInput(compared, recent, isBeside, asOf));
  }

  /** Factor by which the time of day has moved the baseline since its last learnt window. */
  #baselineFactor(stage: string, q: number): number {
    return this.baseline(stage)?.diurnal?.ratioAt(q) ?? 1;
  }

  #ended(
    tail: OpenTail,
    resolution: Resolution,
    verdicts: readonly ShiftVerdict[],
    { levels }: StepContext,
  ): void {
    const own = this.#close(tail, verdicts);
    if (resolution === 'recovered') for (const test of own) test.endEmitted(levels);
    for (const test of own) test.forgetRun();
    if (resolution === 'rebaselined') this.#rebaseline();
    if (resolution === 'rebaselined' || this.#tails.open.length > 0) return;
    this.#baselines.dropCandidate();
    // The baseline from before the anomaly applies again, however old it is.
    this.#baseline.hold(this.lastSeenMs);
  }

  /** Drops the windows of an anomaly that is over; returns the tests of its stages, whose evidence was acted on. */
  #close(tail: OpenTail, verdicts: readonly ShiftVerdict[]): ShiftTest[] {
    const isLast = this.#tails.open.length === 0;
    if (isLast) [this.#recent, this.#totalAnomalous] = [[], 0];
    const isLater = (name: string) =>
      verdicts.some((one) => one.stage === name && this.#tails.isLater(tail, one));
    return [...this.#tests.byStage].flatMap(([stage, test]) =>
      (isLast ? !isLater(stage) : stage !== totalStage && tail.owns(stage)) ? test : [],
    );
  }

  get #isCandidateLearned(): boolean {
    return (this.#baselines.candidate?.windows ?? 0) >= this.#options.min_baseline_windows;
  }

  /** Replaces the baseline, in every test, by the candidate. */
  #rebaseline(): void {
    this.#baselines.renew();
    this.#quarantine.withdraw(Number.NEGATIVE_INFINITY);
    this.#endLoan();
  }

  /** Compares later windows with the own baseline. */
  #endLoan(): void {
    this.#loan.borrowed = undefined;
    for (const test of this.#tests.all) test.rebase();
  }

  /** Withholds windows of an anomaly from the baseline; the candidate learns them instead. */
  #withhold(fromMs: number): void {
    for (const window of this.#quarantine.withdraw(fromMs)) {
      this.#baselines.ensureCandidate().learn(window);
    }
  }

  /**
   * Releases the oldest window from quarantine, and learns the windows before any suspect one.
   *
   * @param suspectFromMs start of the evidence against the windows: a slow fault must not enter the baseline
   * before it is detected. Evidence older than half the baseline's span no longer holds windows back.
   */
  #learn(suspectFromMs: number): void {
    const entry = this.#quarantine.release();
    if (entry !== undefined) {
      // The tests also learn suspicious windows: without them the next one would score higher.
      const outcome = this.#tails.open.length === 0 ? 'resolved' : 'open';
      const as = entry.learnable ? 'learnt' : outcome;
      for (const test of this.#tests.all) test.learn(entry.window.windowStartMs, as);
    }
    const heldFromMs = Math.max(suspectFromMs, this.lastSeenMs - this.#options.baseline / 2);
    for (const held of this.#quarantine.before(heldFromMs)) {
      if (held.learnable) this.#learnOne(held);
    }
  }

  #learnOne({ window, suspicious }: Quarantined): void {
    const isOpen = this.#tails.open.length > 0;
    if (!suspicious) {
      this.#baseline.learn(window);
      this.#windowsAtBaseline += 1;
      if (this.#windowsAtBaseline >= quarantineWindows && !isOpen) this.#baselines.dropCandidate();
      return;
    }
    this.#windowsAtBaseline = 0;
    const candidate = this.#baselines.ensureCandidate();
    candidate.learn(window);
    // Suspicious windows that open no anomaly become the baseline after its span.
    const isLong = this.lastSeenMs - candidate.firstMs >= this.#options.baseline;
    if (!isOpen && isLong && this.#isCandidateLearned) this.#rebaseline();
  }

  #eventInput(
    verdict: ShiftVerdict,
    windows: readonly SeriesWindow[],
    isBeside: boolean,
    context: StepContext,
  ): OpenEventInput {
    return {
      ...{ series: this.series, options: this.#options, baseline: this.#reference },
      ...{ verdict, windows, context, isBeside },
      baselineOf: this.#loan.differencesTo(this.series),
    };
  }
}
