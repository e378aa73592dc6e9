import { dayMs } from '../../base/time.ts';
import {
  RateBaseline,
  type RateReference,
  serializeRateReference,
} from '../../baseline/rate-baseline.ts';
import { RenewableBaseline } from '../../baseline/renewable-baseline.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { historyFromMsOf } from '../../contract/short-history.ts';
import type { Series } from '../../series/series-window.ts';
import { TDigest } from '../../sketch/t-digest.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import { type RateMeasured, rateEvent, type TailDigests, tailFields } from '../event/rate-event.ts';
import { AnomalyDetector } from '../lifecycle/anomaly-detector.ts';
import type { Evaluation } from '../lifecycle/anomaly-lifecycle.ts';
import { type EventUpdate, OpenAnomaly } from '../lifecycle/open-anomaly.ts';
import {
  type DetectOptions,
  longestSpan,
  pauseFactor,
  quarantineWindows,
} from '../options/detect-options.ts';
import type { StepContext } from '../options/detector-step.ts';
import type { PeakPool } from '../score/peak-pool.ts';
import { CountedWindows } from './counted-windows.ts';
import { type CountedRequests, type Proportion, proportionResolvedSummary } from './proportion.ts';
import { proportionMeasured } from './proportion-measured.ts';
import { ProportionTest, type ProportionVerdict } from './proportion-test.ts';
import {
  type Counts,
  effectRate,
  isUnusual,
  type LeastRise,
  mayContinue,
} from './proportion-weights.ts';

/** Digest of a series' whole requests in its baseline. */
export type BaselineOf = (series: Series) => TDigest | undefined;

/** Growth since the last event that justifies an update. */
const materialGrowth = 1.5;

/**
 * One proportion of a series' requests, such as failures: its baseline, its test and its open anomaly.
 * Windows come in order of their start; every step gives at most one event.
 */
export class ProportionDetector extends AnomalyDetector {
  readonly series: Series;
  readonly #proportion: Proportion;
  readonly #least: LeastRise;
  readonly #options: DetectOptions;
  readonly #test: ProportionTest;
  /** Baseline of the previous version, used until this one has its own. */
  #inherited: RateReference | undefined;
  readonly #baselines: RenewableBaseline<RateBaseline>;
  readonly #windows = new CountedWindows();

  /** @param before the detector of the previous version, if there was one; the pool is shared by all. */
  constructor(
    proportion: Proportion,
    series: Series,
    options: DetectOptions,
    pool: PeakPool,
    before: ProportionDetector | undefined,
  ) {
    super(options, OpenAnomaly);
    this.series = series;
    this.#proportion = proportion;
    this.#least = proportion.leastRise(options);
    this.#options = options;
    this.#test = new ProportionTest(options, this.#least, proportion.minWindows, pool);
    const { baseline, window } = options;
    this.#baselines = new RenewableBaseline(() => new RateBaseline(baseline, window));
    this.#inherited = before?.reference();
    if (before !== undefined) this.#test.inherit(before.#test);
  }

  protected override discarded(): void {
    this.#test.forgetRun();
  }

  /** Serializes all but the pool, which is shared. */
  serialize(state: StateArchive): void {
    state.section('proportion detector', 3, () => {
      this.#test.serialize(state);
      this.lifecycle.serialize(state);
      this.#inherited = state.optional(this.#inherited, (reference) =>
        serializeRateReference(state, reference),
      );
      this.#baselines.serialize(state);
      this.#windows.serialize(state);
      state.number(this.#lastSeenMs);
    });
  }

  /**
   * @param counted undefined where the series had no request.
   * @param baselineOf called for the durations that an event holds.
   */
  step(
    startMs: number,
    counted: CountedRequests | undefined,
    context: StepContext,
    baselineOf: BaselineOf,
  ): AnomalyEvent | undefined {
    if (counted === undefined) return this.#missing(startMs, context);
    this.#windows.add(startMs, counted);
    const { requests } = counted.whole;
    const hits = Math.min(requests, counted.hits);
    const reference = this.reference();
    const verdict =
      reference && this.#test.evaluate(startMs, requests, hits, reference, context.levels);
    if (verdict?.suspicious) this.#windows.markSuspicious();
    let event: AnomalyEvent | undefined;
    // Most windows are unremarkable: nothing is allocated for them.
    if (verdict !== undefined || this.isOpen) {
      const evaluation = this.#evaluation(verdict, context, baselineOf);
      event = this.lifecycle.step(startMs, evaluation, context);
      const sinceMs = this.lifecycle.open?.startedAtMs;
      if (sinceMs !== undefined) this.#exclude(sinceMs);
    }
    this.#learn();
    return event;
  }

  #missing(startMs: number, context: StepContext): AnomalyEvent | undefined {
    if (!this.isOpen) return undefined;
    const evaluation = this.#evaluation(undefined, context, () => undefined);
    return this.lifecycle.step(startMs, { ...evaluation, isAnomalous: () => undefined }, context);
  }

  /** Its own baseline, or that of the previous version until it has enough windows. */
  reference(): RateReference | undefined {
    const own = this.#baselines.current.reference();
    const isSufficient = own !== undefined && own.windows >= this.#options.min_baseline_windows;
    return isSufficient ? own : this.#inherited;
  }

  #evaluation(
    verdict: ProportionVerdict | undefined,
    context: StepContext,
    baselineOf: BaselineOf,
  ): Evaluation {
    return {
      noTrafficAfterMs: this.#noTrafficAfterMs,
      isAnomalous: ({ event }) => this.#isAnomalous(event),
      opening: () => (verdict?.opens ? this.#opening(verdict, context, baselineOf) : undefined),
      update: ({ event }) => this.#update(event, verdict, context, baselineOf),
      present: ({ event }) => this.#present(event, verdict, context, baselineOf),
      isRebaselinable: () =>
        (this.#baselines.candidate?.reference()?.windows ?? 0) >=
        this.#options.min_baseline_windows,
      resolvedSummary: ({ event }, resolution) =>
        proportionResolvedSummary(this.#proportion, event, resolution, this.#currentCounts()?.rate),
      ended: (resolution) => {
        if (resolution === 'rebaselined') this.#rebaseline();
        else this.#baselines.dropCandidate();
        this.#test.forgetRun();
      },
    };
  }

  /**
   * Reports whether half of the effect is there, and is not the baseline's: in few requests one ordinary
   * failure is as much. Baseline and fault are the event's: a detector restored from it decides the same.
   */
  #isAnomalous(event: AnomalyEvent): boolean | undefined {
    const now = this.#currentCounts();
    if (now === undefined || event.rate === undefined) return undefined;
    const { baseline, observed } = event.rate;
    if (now.rate < (baseline + effectRate(baseline, this.#least)) / 2) return false;
    return mayContinue(observed, baseline, now) || isUnusual(baseline, now);
  }

  /**
   * Counts of the last six windows, or of as many recent ones as hold enough requests. Recent are
   * those of the last `longestSpan` windows, or of a longer pause that its baseline has.
   */
  #currentCounts(): Counts | undefined {
    const { min_requests, window: windowMs } = this.#options;
    const spanMs = Math.max(longestSpan * windowMs, this.#noTrafficAfterMs);
    const afterMs = this.#lastSeenMs - spanMs;
    let [windows, requests, hits] = [0, 0, 0];
    for (let back = 1; back <= this.#windows.length; back++) {
      if (back > quarantineWindows && requests >= min_requests) break;
      const offset = this.#windows.offsetBack(back);
      if (this.#windows.startMsOf(offset) <= afterMs) break;
      requests += this.#windows.requestsOf(offset);
      hits += this.#windows.hitsOf(offset);
      windows += 1;
    }
    if (requests < min_requests) return undefined;
    return { windows, requests, hits, rate: hits / requests };
  }

  /** Pause after which it has no traffic, a day at most; 0 where that is not known. */
  get #noTrafficAfterMs(): number {
    const reference = this.reference();
    if (reference === undefined || reference.requests === 0) return 0;
    const requests = pauseFactor * this.#options.min_requests;
    return Math.min(dayMs, (requests * reference.spanMs) / reference.requests);
  }

  #opening(verdict: ProportionVerdict, context: StepContext, baselineOf: BaselineOf) {
    const { kind, bottleneck } = this.#proportion;
    return rateEvent({
      kind,
      series: this.series,
      coversAllSeries: false,
      startedAtMs: verdict.startedAtMs,
      measured: this.#measured(verdict, context, context.historyFromMs),
      bottleneck,
      tail: this.#tailOf(verdict, baselineOf),
      nowMs: context.nowMs,
      options: this.#options,
    });
  }

  #update(
    event: AnomalyEvent,
    verdict: ProportionVerdict | undefined,
    context: StepContext,
    baselineOf: BaselineOf,
  ): EventUpdate | undefined {
    if (verdict === undefined || event.rate === undefined) return undefined;
    const measured = this.#present(event, verdict, context, baselineOf);
    if (measured === undefined) return undefined;
    const isWorse = measured.severity === 'critical' && event.severity !== 'critical';
    const isGrown = (measured.rate?.ratio ?? 0) >= materialGrowth * event.rate.ratio;
    return isWorse || isGrown ? measured : undefined;
  }

  /** How an open anomaly is now, by its own baseline: later windows do not move that. */
  #present(
    event: AnomalyEvent,
    verdict: ProportionVerdict | undefined,
    context: StepContext,
    baselineOf: BaselineOf,
  ): EventUpdate | undefined {
    const now = this.#currentCounts();
    const reference = verdict?.reference ?? this.reference();
    if (now === undefined || reference === undefined || event.rate === undefined) return undefined;
    const { p_value, alpha, dispersion } = event.evidence;
    const counted = {
      ...{ logP: Math.log(p_value), logAlpha: Math.log(alpha), dispersion },
      ...verdict,
      ...now,
      reference: { ...reference, rate: event.rate.baseline },
    };
    const measured = this.#measured(counted, context, historyFromMsOf(event.evidence));
    return { ...measured, ...tailFields(this.#tailOf(counted, baselineOf), this.#options) };
  }

  #measured(
    verdict: Omit<ProportionVerdict, 'startedAtMs' | 'opens' | 'suspicious'>,
    { totalRequests }: StepContext,
    historyFromMs: number | undefined,
  ): RateMeasured {
    const shown = this.#windows.wholesOf(verdict.windows);
    const counted = { shown, totalRequests, historyFromMs };
    return proportionMeasured(this.#proportion, this.series, verdict, counted);
  }

  /** Durations in the verdict's windows, or in the last of them. */
  #tailOf({ windows }: Pick<ProportionVerdict, 'windows'>, baselineOf: BaselineOf): TailDigests {
    const now = TDigest.merge(this.#windows.digestsOf(windows));
    return { now, baseline: baselineOf(this.series) };
  }

  /** Excludes windows of an open anomaly: the candidate learns them, the baseline never does. */
  #exclude(fromMs: number): void {
    const windows = this.#windows;
    for (const offset of windows.quarantine) {
      if (!windows.isLearnable(offset) || windows.startMsOf(offset) < fromMs) continue;
      windows.exclude(offset);
      this.#learnTo(this.#baselines.ensureCandidate(), offset);
    }
  }

  #learnTo(baseline: RateBaseline, offset: number): void {
    const windows = this.#windows;
    baseline.learn(windows.startMsOf(offset), windows.requestsOf(offset), windows.hitsOf(offset));
  }

  /** Releases the oldest window from quarantine and learns it, unless it was excluded. */
  #learn(): void {
    const offset = this.#windows.release();
    if (offset === undefined) return;
    const isLearnable = this.#windows.isLearnable(offset);
    // The test learns suspicious windows too: without them the next one would look more anomalous.
    this.#test.learn(this.#windows.startMsOf(offset), isLearnable);
    if (!isLearnable) return;
    if (!this.#windows.isSuspicious(offset)) {
      this.#learnTo(this.#baselines.current, offset);
      if (!this.isOpen) this.#baselines.dropCandidate();
      return;
    }
    this.#learnTo(this.#baselines.ensureCandidate(), offset);
    this.#rebaselineUnopened();
  }

  /** Start of the last window with a request; NaN before the first one. */
  get #lastSeenMs(): number {
    return this.#windows.length === 0
      ? Number.NaN
      : this.#windows.startMsOf(this.#windows.offsetBack(1));
  }

  /** Rebaselines when suspicious windows have lasted for a baseline's length without an anomaly. */
  #rebaselineUnopened(): void {
    const reference = this.#baselines.candidate?.reference();
    if (this.isOpen || reference === undefined) return;
    const { baseline, min_baseline_windows } = this.#options;
    const isLong = this.#lastSeenMs - reference.fromMs >= baseline - baseline / 8;
    if (isLong && reference.windows >= min_baseline_windows) this.#rebaseline();
  }

  #rebaseline(): void {
    this.#baselines.renew();
    for (const offset of this.#windows.quarantine) this.#windows.exclude(offset);
    this.#test.rebase();
  }
}
