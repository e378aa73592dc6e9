import { dayMs, minuteMs } from '../../base/time.ts';
import { TrafficProfile } from '../../baseline/traffic-profile.ts';
import type { AnomalyEvent, Resolution } from '../../contract/anomaly-event.ts';
import type { Series } from '../../series/series-window.ts';
import { type StateArchive, serializeFields } from '../../snapshot/archive.ts';
import { type RateMeasured, rateEvent, type TailDigests, tailFields } from '../event/rate-event.ts';
import type { AnomalyOwner } from '../lifecycle/anomaly-detector.ts';
import { AnomalyLifecycle, type Evaluation } from '../lifecycle/anomaly-lifecycle.ts';
import { type EventUpdate, OpenAnomaly } from '../lifecycle/open-anomaly.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import type { StepContext } from '../options/detector-step.ts';
import type { PeakPool } from '../score/peak-pool.ts';
import { DropTest, type DropVerdict } from './drop-test.ts';
import { SilenceTest, type SilenceVerdict } from './silence-test.ts';
import {
  dropMeasured,
  dropUpdated,
  silenceMeasured,
  silencePresent,
  trafficResolvedSummary,
} from './traffic-measured.ts';

/** Traffic of a window. */
export interface TrafficWindow {
  readonly startMs: number;
  readonly requests: number;
  /** True if no model at all had a request. */
  readonly isSilentEverywhere: boolean;
  /** Durations of the requests, for an event. */
  readonly tail: () => TailDigests;
}

/** Span whose traffic decides whether a drop persists. */
const recentMs = 5 * minuteMs;
/** Learnt gap from which a model is too irregular to test for drops. */
const steadyMs = 5 * minuteMs;
/** Shortest gap of all models together: a restart of Kafka or of tailmark should not page. */
const minGapOfAllMs = 5 * minuteMs;

/**
 * Drops and silence of one model's traffic, all versions and regions together, or of all models. At most
 * one of the two is open. Windows come in order of their start.
 */
export class TrafficDetector implements AnomalyOwner {
  readonly #series: Series;
  readonly #options: DetectOptions;
  readonly #profile = new TrafficProfile();
  readonly #drop: DropTest;
  readonly #silence: SilenceTest;
  readonly #dropLifecycle: AnomalyLifecycle;
  readonly #silenceLifecycle: AnomalyLifecycle;
  /** Requests of the last minutes, oldest first. */
  #lastWindows: { readonly startMs: number; readonly requests: number }[] = [];
  /** Start of the last known window with a request. */
  #lastSeenMs = Number.NaN;
  /** Parts of an evaluation that silence and drops have in common. */
  readonly #common = {
    update: () => undefined,
    present: (): EventUpdate | undefined => undefined,
    isRebaselinable: () => true,
    resolvedSummary: ({ event }: OpenAnomaly, resolution: Resolution) =>
      trafficResolvedSummary(event, resolution, this.#nowPerSecond),
    ended: () => this.#drop.forgetRun(),
  };

  /** @param model '' for all of them. */
  constructor(model: string, options: DetectOptions, pool: PeakPool) {
    const none = { service: '', version: '', request_type: '', region: '', host: '', tenant: '' };
    this.#series = { ...none, model, cold_start: false };
    this.#options = options;
    this.#drop = new DropTest(options, pool);
    this.#silence = new SilenceTest(options);
    this.#dropLifecycle = new AnomalyLifecycle(options, OpenAnomaly);
    this.#silenceLifecycle = new AnomalyLifecycle(options, OpenAnomaly);
  }

  get isOpen(): boolean {
    return this.#silenceLifecycle.isOpen || this.#dropLifecycle.isOpen;
  }

  /** Reports whether nothing is open and no request has come for a day. */
  isForgettable(startMs: number): boolean {
    return !this.isOpen && startMs - this.#lastSeenMs > dayMs;
  }

  restore(event: AnomalyEvent): void {
    this.#lastSeenMs = Date.parse(event.started_at);
    this.#lifecycleOf(event).restore(event);
  }

  adopt(published: AnomalyEvent): void {
    this.#lifecycleOf(published).adopt(published);
  }

  #lifecycleOf({ kind }: AnomalyEvent): AnomalyLifecycle {
    return kind === 'no_data' ? this.#silenceLifecycle : this.#dropLifecycle;
  }

  reconcile(open: readonly AnomalyEvent[], isPublished: (id: string) => boolean): void {
    const ofKind = (kind: AnomalyEvent['kind']) => open.find((event) => event.kind === kind);
    const isOver = [
      this.#silenceLifecycle.reconcile(ofKind('no_data'), isPublished),
      this.#dropLifecycle.reconcile(ofKind('throughput_drop'), isPublished),
    ];
    if (isOver.includes(true)) this.#drop.forgetRun();
  }

  /** Serializes all but the shared pool. */
  serialize(state: StateArchive): void {
    state.section('traffic detector', 2, () => {
      this.#profile.serialize(state);
      this.#drop.serialize(state);
      this.#silence.serialize(state);
      this.#dropLifecycle.serialize(state);
      this.#silenceLifecycle.serialize(state);
      this.#lastWindows = state.list(this.#lastWindows, (window) =>
        serializeFields(state, window, { startMs: 0, requests: 0 }),
      );
      this.#lastSeenMs = state.number(this.#lastSeenMs);
    });
  }

  /** Backfills a block of `TrafficProfile.blockMs`; blocks come in order, before any window. */
  backfill(startMs: number, requests: number): void {
    if (requests > 0) this.#lastSeenMs = startMs + TrafficProfile.blockMs;
    this.#profile.backfill(startMs, requests);
  }

  backfillUntil(endMs: number): void {
    this.#profile.backfillUntil(endMs);
  }

  step(window: TrafficWindow, context: StepContext): AnomalyEvent[] {
    const { startMs, requests, isSilentEverywhere } = window;
    const isOfAll = this.#series.model === '';
    // A model cannot be evaluated while all are silent, or while part of the traffic is missing.
    if ((isSilentEverywhere && !isOfAll) || context.hasAllTraffic === false)
      return this.#skipWindow(window, context);
    if (requests > 0) this.#lastSeenMs = startMs;
    this.#profile.observe(startMs, this.#options.window, requests);
    this.#silence.observe(startMs, requests, !this.#silenceLifecycle.isOpen);
    this.#lastWindows.push({ startMs, requests });
    while (startMs - (this.#lastWindows[0]?.startMs ?? startMs) >= recentMs)
      this.#lastWindows.shift();
    const silence = this.#stepSilence(window, startMs + this.#options.window, context);
    // A drop of all models shows in the single ones.
    const drop = isOfAll ? undefined : this.#stepDrop(window, context);
    return [silence, drop].filter((event) => event !== undefined);
  }

  /** As `Detector.silentUntil`. */
  silentUntil(untilMs: number, context: StepContext): AnomalyEvent[] {
    if (this.#silenceLifecycle.isOpen) return [];
    const tail = () => ({ now: undefined, baseline: undefined });
    const window = { startMs: untilMs, requests: 0, isSilentEverywhere: true, tail };
    const event = this.#stepSilence(window, untilMs, context);
    return event === undefined ? [] : [event];
  }

  #stepSilence(window: TrafficWindow, untilMs: number, context: StepContext) {
    const forecast = this.#profile.forecast;
    const minGapMs = this.#series.model === '' ? minGapOfAllMs : 0;
    const verdict =
      forecast?.isKnown === true && !this.#dropLifecycle.isOpen
        ? this.#silence.evaluate(untilMs, forecast, context.levels, minGapMs)
        : undefined;
    // Most windows are unremarkable: nothing is allocated for them.
    if (verdict === undefined && !this.#silenceLifecycle.isOpen) return undefined;
    const opening = () => {
      if (verdict === undefined || forecast === undefined) return undefined;
      const measured = silenceMeasured(this.#series, verdict, forecast, this.#options);
      const event = this.#opening('no_data', verdict, measured, window, context);
      return { ...event, measured_at: new Date(untilMs).toISOString() };
    };
    const evaluation: Evaluation = {
      ...this.#common,
      // After a restart the silence persists until the first request.
      isAnomalous: () => this.#silence.isSilent(untilMs),
      opening,
      present: ({ event }) => silencePresent(this.#series, event, untilMs, this.#options),
      ended: (resolution) => {
        this.#drop.forgetRun();
        if (resolution === 'rebaselined') this.#silence.rebaseline();
      },
    };
    return this.#silenceLifecycle.step(window.startMs, evaluation, context);
  }

  /** Advances open anomalies through a window that cannot be evaluated. */
  #skipWindow({ startMs, requests }: TrafficWindow, context: StepContext): AnomalyEvent[] {
    const evaluation: Evaluation = {
      ...this.#common,
      isAnomalous: () => undefined,
      opening: () => undefined,
      isRebaselinable: () => false,
      resolvedSummary: ({ event }, resolution) =>
        trafficResolvedSummary(event, resolution, undefined),
    };
    this.#drop.forgetRun();
    if (requests > 0) {
      this.#lastSeenMs = startMs;
      this.#silence.observe(startMs, requests, false);
    } else this.#silence.pause();
    return [this.#silenceLifecycle, this.#dropLifecycle].flatMap((lifecycle) => {
      return lifecycle.isOpen ? (lifecycle.step(startMs, evaluation, context) ?? []) : [];
    });
  }

  #stepDrop(window: TrafficWindow, context: StepContext): AnomalyEvent | undefined {
    if (this.#silenceLifecycle.isOpen) {
      this.#drop.forgetRun();
      return undefined;
    }
    const forecast = this.#profile.forecast;
    const { startMs, requests, tail } = window;
    const verdict =
      forecast?.isKnown === true && this.#silence.isSteady(steadyMs)
        ? this.#drop.evaluate(startMs, requests, forecast, context.levels)
        : undefined;
    if (verdict === undefined && !this.#dropLifecycle.isOpen) return undefined;
    const opening = () => {
      if (verdict?.opens !== true || forecast === undefined) return undefined;
      const measured = dropMeasured(this.#series, verdict, forecast, this.#options);
      return this.#opening('throughput_drop', verdict, measured, window, context);
    };
    const evaluation: Evaluation = {
      ...this.#common,
      isAnomalous: ({ event }) => this.#isDropped(event, startMs),
      opening,
      update: ({ event }) => this.#dropUpdate(event, tail),
      present: ({ event }) => this.#dropPresent(event, tail),
    };
    return this.#dropLifecycle.step(startMs, evaluation, context);
  }

  #opening(
    kind: AnomalyEvent['kind'],
    { startedAtMs }: SilenceVerdict | DropVerdict,
    measured: RateMeasured,
    { tail }: TrafficWindow,
    { nowMs }: StepContext,
  ): AnomalyEvent {
    return rateEvent({
      kind,
      series: this.#series,
      coversAllSeries: true,
      startedAtMs,
      measured,
      tail: tail(),
      nowMs,
      options: this.#options,
    });
  }

  get #nowPerSecond(): number {
    const requests = this.#lastWindows.reduce((sum, each) => sum + each.requests, 0);
    return requests / ((this.#lastWindows.length * this.#options.window) / 1000);
  }

  /** True below half of the smallest drop, against the forecast of its start scaled by the time of day. */
  #isDropped(event: AnomalyEvent, startMs: number): boolean | undefined {
    const { rate } = event;
    if (rate === undefined || this.#lastWindows.length === 0) return undefined;
    const fade = this.#profile.declineSince(Date.parse(event.started_at), startMs);
    const left = 1 - this.#options.min_traffic_drop / 2;
    return this.#nowPerSecond < left * fade * rate.baseline;
  }

  /** Updates the event when the drop becomes critical. */
  #dropUpdate(event: AnomalyEvent, tail: () => TailDigests): EventUpdate | undefined {
    const measured = this.#dropPresent(event, tail);
    const rises = measured?.severity === 'critical' && event.severity !== 'critical';
    return rises ? measured : undefined;
  }

  #dropPresent(event: AnomalyEvent, tail: () => TailDigests): EventUpdate | undefined {
    if (event.rate === undefined) return undefined;
    const measured = dropUpdated(this.#series, event, this.#nowPerSecond);
    return { ...measured, ...tailFields(tail(), this.#options) };
  }
}
