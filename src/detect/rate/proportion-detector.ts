import {
  RateBaseline,
  type RateReference,
  serializeRateReference,
} from '../../baseline/rate-baseline.ts';
import type { Series } from '../../series/series-window.ts';
import { TDigest } from '../../sketch/t-digest.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import type { AnomalyEvent, Resolution } from '../event/anomaly-event.ts';
import { rateEvent, tailBeside } from '../event/rate-event.ts';
import { AnomalyLifecycle, type Judgement } from '../lifecycle/anomaly-lifecycle.ts';
import type { Renewed } from '../lifecycle/event-chain.ts';
import { type DetectOptions, longestSpan, quarantineWindows } from '../options/detect-options.ts';
import type { PeakPool } from '../score/peak-pool.ts';
import type { StepContext } from '../step/detector-step.ts';
import { CountedWindows } from './counted-windows.ts';
import type { CountedRequests, Proportion, WholeRequests } from './proportion.ts';
import { proportionMeasured } from './proportion-measured.ts';
import { ProportionTest, type ProportionVerdict } from './proportion-test.ts';
import { type LeastRise, rateEffect } from './proportion-weights.ts';

/** What usual requests of a series take. */
export type BaselineOf = (series: Series) => TDigest | undefined;

/** What an anomaly has grown by since it was told last, to be told again. */
const materialGrowth = 1.5;

/**
 * How many of one series' requests are of some sort: its baseline, its test and its anomaly, if one is open.
 * Windows come in order of their start; every step gives at most one event.
 */
export class ProportionDetector {
  readonly series: Series;
  readonly #proportion: Proportion;
  readonly #least: LeastRise;
  readonly #options: DetectOptions;
  readonly #test: ProportionTest;
  readonly #track: AnomalyLifecycle;
  /**
   * Until this one has a baseline: a new version that fails from its first request on, say, is compared
   * with the last.
   */
  #inherited: RateReference | undefined;
  #baseline: RateBaseline;
  /** What windows that are not learnt would make: the new usual, if they stay. */
  #candidate: RateBaseline | undefined;
  readonly #windows = new CountedWindows();

  /**
   * @param pool shared by all series.
   * @param before the series of the version before, if there was one.
   */
  constructor(
    proportion: Proportion,
    series: Series,
    options: DetectOptions,
    pool: PeakPool,
    before: ProportionDetector | undefined,
  ) {
    this.series = series;
    this.#proportion = proportion;
    this.#least = proportion.leastRise(options);
    this.#options = options;
    this.#test = new ProportionTest(options, this.#least, proportion.lasting, pool);
    this.#track = new AnomalyLifecycle(options);
    this.#baseline = this.#newBaseline();
    this.#inherited = before?.reference();
    if (before !== undefined) this.#test.inherit(before.#test);
  }

  get isOpen(): boolean {
    return this.#track.isOpen;
  }

  restore(event: AnomalyEvent): void {
    this.#track.restore(event);
  }

  /** What others have told counts, if it is the same event of the same anomaly. */
  adopt(published: AnomalyEvent): void {
    this.#track.adopt(published);
  }

  /** As `AnomalyLifecycle.reconcile`. */
  reconcile(open: AnomalyEvent | undefined, isKnown: (id: string) => boolean): void {
    if (this.#track.reconcile(open, isKnown)) this.#test.forgetRun();
  }

  /** All but the pool, which is shared. */
  serialize(state: StateArchive): void {
    state.section('proportion detector', 1, () => {
      this.#test.serialize(state);
      this.#track.serialize(state);
      this.#inherited = state.optional(this.#inherited, (reference) =>
        serializeRateReference(state, reference),
      );
      this.#baseline.serialize(state);
      this.#candidate = state.optional(this.#candidate, (candidate = this.#newBaseline()) => {
        candidate.serialize(state);
        return candidate;
      });
      this.#windows.serialize(state);
      state.number(this.#lastSeenMs);
    });
  }

  /**
   * @param counted undefined where the series had no request.
   * @param baselineOf what whole requests take, to say it beside how many are counted.
   */
  step(
    startMs: number,
    counted: CountedRequests | undefined,
    context: StepContext,
    baselineOf: BaselineOf,
  ): AnomalyEvent | undefined {
    if (counted === undefined) return this.#missing(startMs, context);
    this.#windows.add(startMs, counted);
    const verdict = this.#evaluate(startMs, counted, context);
    if (verdict?.suspicious) this.#windows.suspect();
    let event: AnomalyEvent | undefined;
    // Most windows show nothing: nothing is made for them.
    if (verdict !== undefined || this.#track.isOpen) {
      const baseline = () => baselineOf(this.series);
      event = this.#track.step(startMs, this.#judgement(verdict, context, baseline), context);
      const sinceMs = this.#track.openSinceMs;
      if (sinceMs !== undefined) this.#setAside(sinceMs);
    }
    this.#learn();
    return event;
  }

  #evaluate(
    startMs: number,
    { whole: { requests }, hits }: CountedRequests,
    { levels }: StepContext,
  ): ProportionVerdict | undefined {
    const reference = this.reference();
    if (reference === undefined) return undefined;
    return this.#test.evaluate(startMs, requests, Math.min(requests, hits), reference, levels);
  }

  #missing(startMs: number, context: StepContext): AnomalyEvent | undefined {
    if (!this.#track.isOpen) return undefined;
    const judgement = this.#judgement(undefined, context, () => undefined);
    return this.#track.step(startMs, { ...judgement, isOut: () => undefined }, context);
  }

  /** What its requests are compared with: the version before gives it until this one has its own. */
  reference(): RateReference | undefined {
    const own = this.#baseline.reference();
    const isKnown = own !== undefined && own.windows >= this.#options.min_baseline_windows;
    return isKnown ? own : this.#inherited;
  }

  #judgement(
    verdict: ProportionVerdict | undefined,
    context: StepContext,
    baseline: () => TDigest | undefined,
  ): Judgement {
    return {
      isOut: (event) => this.#isOut(event),
      opening: () => (verdict?.opens ? this.#opening(verdict, context, baseline) : undefined),
      renewed: (event) => this.#renewed(event, verdict, context, baseline),
      isRebaselinable:
        (this.#candidate?.reference()?.windows ?? 0) >= this.#options.min_baseline_windows,
      resolvedSummary: (event, resolution) =>
        this.#proportion.resolvedSummary(event, resolution, this.#now(event)),
      ended: (resolution) => this.#ended(resolution),
    };
  }

  /** Judged by what the event says, so that a detector that knows only the event goes on alike. */
  #isOut(event: AnomalyEvent): boolean | undefined {
    const now = this.#now(event);
    if (now === undefined || event.rate === undefined) return undefined;
    return now >= rateEffect(event.rate.baseline, this.#least).halfEffect;
  }

  /**
   * The part of requests that are counted in the last windows: six at most, or as many as hold enough requests and
   * are not long ago.
   */
  #now({ evidence }: AnomalyEvent): number | undefined {
    const { min_requests, window: windowMs } = this.#options;
    const windows = Math.min(evidence.windows, quarantineWindows);
    const afterMs = this.#windows.startMsOf(this.#windows.back(1)) - longestSpan * windowMs;
    let [requests, hits] = [0, 0];
    for (let back = 1; back <= this.#windows.length; back++) {
      if (back > windows && requests >= min_requests) break;
      const at = this.#windows.back(back);
      if (this.#windows.startMsOf(at) <= afterMs) break;
      requests += this.#windows.requestsOf(at);
      hits += this.#windows.hitsOf(at);
    }
    return requests < min_requests ? undefined : hits / requests;
  }

  #opening(verdict: ProportionVerdict, context: StepContext, baseline: () => TDigest | undefined) {
    const shown = this.#shown(verdict);
    return rateEvent({
      kind: this.#proportion.kind,
      series: this.series,
      isWhole: false,
      startedAtMs: verdict.startedAtMs,
      measured: proportionMeasured({
        proportion: this.#proportion,
        series: this.series,
        verdict,
        shown,
        context,
      }),
      bottleneck: this.#proportion.bottleneck,
      tail: { now: this.#tailOf(shown), baseline: baseline() },
      nowMs: context.nowMs,
      options: this.#options,
    });
  }

  #renewed(
    event: AnomalyEvent,
    verdict: ProportionVerdict | undefined,
    context: StepContext,
    baseline: () => TDigest | undefined,
  ): Renewed | undefined {
    if (verdict === undefined || event.rate === undefined) return undefined;
    // Held against what was usual when it began, whatever has been learnt since.
    const reference = { ...verdict.reference, rate: event.rate.baseline };
    const shown = this.#shown(verdict);
    const proportion = this.#proportion;
    const changed = { ...verdict, reference };
    const input = { proportion, series: this.series, verdict: changed, shown, context };
    const measured = proportionMeasured(input);
    const isWorse = measured.severity === 'critical' && event.severity !== 'critical';
    const isGrown = (measured.rate?.ratio ?? 0) >= materialGrowth * event.rate.ratio;
    if (!isWorse && !isGrown) return undefined;
    const tail = { now: this.#tailOf(shown), baseline: baseline() };
    return { ...measured, ...tailBeside(tail, this.#options) };
  }

  /** What requests take in the windows that are shown, or the last of them. */
  #tailOf(shown: readonly WholeRequests[]): TDigest {
    return TDigest.merge(this.#windows.digestsOf(shown.length));
  }

  /** The windows that a verdict is of. */
  #shown({ windows }: ProportionVerdict): readonly WholeRequests[] {
    return this.#windows.wholesOf(windows);
  }

  #ended(resolution: Resolution): void {
    if (resolution === 'rebaselined') this.#rebaseline();
    else this.#candidate = undefined;
    this.#test.forgetRun();
  }

  /** Windows from here on belong to an anomaly: the candidate learns them, the baseline never. */
  #setAside(fromMs: number): void {
    const windows = this.#windows;
    for (const at of windows.quarantine) {
      if (!windows.isLearnable(at) || windows.startMsOf(at) < fromMs) continue;
      windows.setAside(at);
      this.#candidate ??= this.#newBaseline();
      this.#learnTo(this.#candidate, at);
    }
  }

  #learnTo(baseline: RateBaseline, at: number): void {
    const windows = this.#windows;
    baseline.learn(windows.startMsOf(at), windows.requestsOf(at), windows.hitsOf(at));
  }

  /** Lets the oldest window out of quarantine and learns it, if nothing speaks against it. */
  #learn(): void {
    const at = this.#windows.release();
    if (at === undefined) return;
    const isLearnable = this.#windows.isLearnable(at);
    // The test learns odd windows too: leaving them out would make the next one look odder.
    this.#test.learn(this.#windows.startMsOf(at), isLearnable);
    if (!isLearnable) return;
    if (!this.#windows.isSuspicious(at)) {
      this.#learnTo(this.#baseline, at);
      if (!this.#track.isOpen) this.#candidate = undefined;
      return;
    }
    this.#candidate ??= this.#newBaseline();
    this.#learnTo(this.#candidate, at);
    this.#rebaselineUnopened();
  }

  /** When there was a request last; NaN before the first one. */
  get #lastSeenMs(): number {
    return this.#windows.length === 0 ? Number.NaN : this.#windows.startMsOf(this.#windows.back(1));
  }

  /** Odd windows in a row that never sufficed to page become usual after a baseline's length. */
  #rebaselineUnopened(): void {
    const reference = this.#candidate?.reference();
    if (this.#track.isOpen || reference === undefined) return;
    const { baseline, min_baseline_windows } = this.#options;
    const isLong = this.#lastSeenMs - reference.fromMs >= baseline - baseline / 8;
    if (isLong && reference.windows >= min_baseline_windows) this.#rebaseline();
  }

  #rebaseline(): void {
    this.#baseline = this.#candidate ?? this.#newBaseline();
    this.#candidate = undefined;
    for (const at of this.#windows.quarantine) this.#windows.setAside(at);
    this.#test.rebase();
  }

  #newBaseline(): RateBaseline {
    return new RateBaseline(this.#options.baseline, this.#options.window);
  }
}
