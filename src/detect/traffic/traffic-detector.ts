import { TrafficProfile } from '../../baseline/traffic-profile.ts';
import type { Series } from '../../series/series-window.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import type { AnomalyEvent, Resolution } from '../event/anomaly-event.ts';
import { rateEvent, type TailBeside, tailBeside } from '../event/rate-event.ts';
import { AnomalyLifecycle, type Judgement } from '../lifecycle/anomaly-lifecycle.ts';
import type { Renewed } from '../lifecycle/event-chain.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import type { PeakPool } from '../score/peak-pool.ts';
import type { StepContext } from '../step/detector-step.ts';
import { DropTest, type DropVerdict } from './drop-test.ts';
import { SilenceTest, type SilenceVerdict } from './silence-test.ts';
import {
  dropAgain,
  dropMeasured,
  silenceMeasured,
  trafficResolvedSummary,
} from './traffic-measured.ts';

/** How much traffic there was in a window. */
export interface TrafficWindow {
  readonly startMs: number;
  readonly requests: number;
  /** Whether no model at all had a request: that is not about this one. */
  readonly isSilentEverywhere: boolean;
  /** How long requests take, to say it beside. */
  readonly tail: () => TailBeside;
}

const minuteMs = 60_000;
const dayMs = 86_400_000;
/** Whether a drop goes on is looked for in so many minutes. */
const leaveMs = 5 * minuteMs;
/** What pauses for so long by itself cannot be said to fall. */
const steadyMs = 5 * minuteMs;
/**
 * All models at once stop when Kafka does, or what reads it: that may be a restart of our own, which is
 * nobody's night.
 */
const everythingMs = 5 * minuteMs;

/**
 * The traffic of one model, all its versions and regions together, or of all models: whether it has
 * fallen, or stopped. At most one of the two is open. Windows come in order of their start.
 */
export class TrafficDetector {
  readonly #series: Series;
  readonly #options: DetectOptions;
  readonly #profile = new TrafficProfile();
  readonly #drop: DropTest;
  readonly #silence: SilenceTest;
  readonly #dropTrack: AnomalyLifecycle;
  readonly #silenceTrack: AnomalyLifecycle;
  /** Requests of the last minutes, oldest first. */
  #last: { readonly startMs: number; readonly requests: number }[] = [];
  /** When there was a request last, as far as is known. */
  #lastSeenMs = Number.NaN;

  /**
   * @param model '' for all of them.
   * @param pool shared by all models.
   */
  constructor(model: string, options: DetectOptions, pool: PeakPool) {
    const none = { service: '', version: '', request_type: '', region: '', host: '', tenant: '' };
    this.#series = { ...none, model, cold_start: false };
    this.#options = options;
    this.#drop = new DropTest(options, pool);
    this.#silence = new SilenceTest(options);
    this.#dropTrack = new AnomalyLifecycle(options);
    this.#silenceTrack = new AnomalyLifecycle(options);
  }

  /** Nothing is open, and there has been no request for a day: if it comes again, it is new. */
  isForgettable(startMs: number): boolean {
    if (this.#silenceTrack.isOpen || this.#dropTrack.isOpen) return false;
    return startMs - this.#lastSeenMs > dayMs;
  }

  restore(event: AnomalyEvent): void {
    this.#lastSeenMs = Date.parse(event.started_at);
    (event.kind === 'no_data' ? this.#silenceTrack : this.#dropTrack).restore(event);
  }

  /** What others have told counts, if it is the same event of the same anomaly. */
  adopt(published: AnomalyEvent): void {
    (published.kind === 'no_data' ? this.#silenceTrack : this.#dropTrack).adopt(published);
  }

  /** As `AnomalyLifecycle.reconcile`, of both kinds. */
  reconcile(open: readonly AnomalyEvent[], isKnown: (id: string) => boolean): void {
    const ofKind = (kind: AnomalyEvent['kind']) => open.find((event) => event.kind === kind);
    const isOver = [
      this.#silenceTrack.reconcile(ofKind('no_data'), isKnown),
      this.#dropTrack.reconcile(ofKind('throughput_drop'), isKnown),
    ];
    if (isOver.includes(true)) this.#drop.forgetRun();
  }

  /** All but the pool, which is shared. */
  serialize(state: StateArchive): void {
    state.section('traffic detector', 1, () => {
      this.#profile.serialize(state);
      this.#drop.serialize(state);
      this.#silence.serialize(state);
      this.#dropTrack.serialize(state);
      this.#silenceTrack.serialize(state);
      this.#last = state.list(this.#last, (entry) => ({
        startMs: state.number(entry?.startMs ?? 0),
        requests: state.number(entry?.requests ?? 0),
      }));
      this.#lastSeenMs = state.number(this.#lastSeenMs);
    });
  }

  /**
   * Takes a block of `TrafficProfile.blockMs` of the longer past; blocks come in order, before any
   * window.
   */
  backfill(startMs: number, requests: number): void {
    if (requests > 0) this.#lastSeenMs = startMs + TrafficProfile.blockMs;
    this.#profile.backfill(startMs, requests);
  }

  /** There is nothing more to recall up to then. */
  backfillUntil(endMs: number): void {
    this.#profile.backfillUntil(endMs);
  }

  step(window: TrafficWindow, context: StepContext): AnomalyEvent[] {
    const { startMs, requests, isSilentEverywhere } = window;
    const isOfAll = this.#series.model === '';
    // Of a model nothing can be said while nobody sends anything, nor while part of the traffic is missing.
    if ((isSilentEverywhere && !isOfAll) || context.isWhole === false)
      return this.#wait(window, context);
    if (requests > 0) this.#lastSeenMs = startMs;
    this.#profile.observe(startMs, this.#options.window, requests);
    this.#silence.observe(startMs, requests, !this.#silenceTrack.isOpen);
    this.#last.push({ startMs, requests });
    while (startMs - (this.#last[0]?.startMs ?? startMs) >= leaveMs) this.#last.shift();
    const untilMs = startMs + this.#options.window;
    const stopped = this.#stepSilence(window, untilMs, context);
    // All models together fall when one of them does: what they tell is enough.
    if (isOfAll) return stopped === undefined ? [] : [stopped];
    const fallen = this.#silenceTrack.isOpen ? this.#holdDrop() : this.#stepDrop(window, context);
    if (stopped === undefined) return fallen === undefined ? [] : [fallen];
    return fallen === undefined ? [stopped] : [stopped, fallen];
  }

  /** No window has become complete up to then, as there was no request: no window tells of that. */
  silentUntil(untilMs: number, context: StepContext): AnomalyEvent[] {
    if (this.#silenceTrack.isOpen) return [];
    const verdict = this.#judgeSilence(untilMs, context);
    const nothing = { startMs: untilMs, requests: 0, isSilentEverywhere: true } as const;
    const tail = () => ({ now: undefined, baseline: undefined });
    const window = { ...nothing, tail };
    const judgement = this.#silenceJudgement(verdict, untilMs, window, context);
    const event = this.#silenceTrack.step(untilMs, judgement, context);
    return event === undefined ? [] : [event];
  }

  #judgeSilence(untilMs: number, { levels }: StepContext): SilenceVerdict | undefined {
    const forecast = this.#profile.forecast;
    if (forecast === undefined || !forecast.isKnown || this.#dropTrack.isOpen) return undefined;
    const leastMs = this.#series.model === '' ? everythingMs : 0;
    return this.#silence.evaluate(untilMs, forecast, levels, leastMs);
  }

  #stepSilence(window: TrafficWindow, untilMs: number, context: StepContext) {
    const verdict = this.#judgeSilence(untilMs, context);
    // Most windows show nothing: nothing is made for them.
    if (verdict === undefined && !this.#silenceTrack.isOpen) return undefined;
    const judgement = this.#silenceJudgement(verdict, untilMs, window, context);
    return this.#silenceTrack.step(window.startMs, judgement, context);
  }

  /** Follows what is open through windows that say nothing. */
  #wait({ startMs, requests }: TrafficWindow, context: StepContext): AnomalyEvent[] {
    const unsaid = { ...nothingToSay, ended: () => this.#drop.forgetRun() };
    this.#drop.forgetRun();
    if (requests > 0) {
      this.#lastSeenMs = startMs;
      this.#silence.observe(startMs, requests, false);
    } else this.#silence.pause();
    return [this.#silenceTrack, this.#dropTrack].flatMap((track) => {
      return track.isOpen ? (track.step(startMs, unsaid, context) ?? []) : [];
    });
  }

  #silenceJudgement(
    verdict: SilenceVerdict | undefined,
    untilMs: number,
    { tail }: TrafficWindow,
    { nowMs }: StepContext,
  ): Judgement {
    const options = this.#options;
    const forecast = this.#profile.forecast;
    return {
      // Before the first request since a restart it goes on.
      isOut: () => this.#silence.isSilent(untilMs),
      opening: () => {
        if (verdict === undefined || forecast === undefined) return undefined;
        const measured = silenceMeasured(this.#series, verdict, forecast, options);
        const { startedAtMs } = verdict;
        const about = { kind: 'no_data', series: this.#series, isWhole: true } as const;
        return rateEvent({ ...about, startedAtMs, measured, tail: tail(), nowMs, options });
      },
      renewed: () => undefined,
      isRebaselinable: true,
      resolvedSummary: (event, resolution) =>
        trafficResolvedSummary(event, resolution, this.#nowPerSecond),
      ended: (resolution) => {
        this.#drop.forgetRun();
        if (resolution === 'rebaselined') this.#silence.rebaseline();
      },
    };
  }

  /** While nothing comes at all, that is what is told. */
  #holdDrop(): undefined {
    this.#drop.forgetRun();
    return undefined;
  }

  #stepDrop(window: TrafficWindow, context: StepContext): AnomalyEvent | undefined {
    const forecast = this.#profile.forecast;
    const { startMs, requests } = window;
    const verdict =
      forecast?.isKnown === true && this.#silence.isSteady(steadyMs)
        ? this.#drop.evaluate(startMs, requests, forecast, context.levels)
        : undefined;
    if (verdict === undefined && !this.#dropTrack.isOpen) return undefined;
    const judgement = this.#dropJudgement(verdict, window, context);
    return this.#dropTrack.step(startMs, judgement, context);
  }

  #dropJudgement(
    verdict: DropVerdict | undefined,
    { startMs, tail }: TrafficWindow,
    { nowMs }: StepContext,
  ): Judgement {
    const options = this.#options;
    const forecast = this.#profile.forecast;
    return {
      isOut: (event) => this.#isDropped(event, startMs),
      opening: () => {
        if (verdict?.opens !== true || forecast === undefined) return undefined;
        const measured = dropMeasured(this.#series, verdict, forecast, options);
        const { startedAtMs } = verdict;
        const about = { kind: 'throughput_drop', series: this.#series, isWhole: true } as const;
        return rateEvent({ ...about, startedAtMs, measured, tail: tail(), nowMs, options });
      },
      renewed: (event) => this.#renewed(event, tail),
      isRebaselinable: true,
      resolvedSummary: (event, resolution) =>
        trafficResolvedSummary(event, resolution, this.#nowPerSecond),
      ended: () => this.#drop.forgetRun(),
    };
  }

  get #nowPerSecond(): number {
    const requests = this.#last.reduce((sum, each) => sum + each.requests, 0);
    return requests / ((this.#last.length * this.#options.window) / 1000);
  }

  /**
   * Below half of the least drop, held against what was foretold when it began, less what the evening
   * takes.
   */
  #isDropped(event: AnomalyEvent, startMs: number): boolean | undefined {
    const { rate } = event;
    if (rate === undefined || this.#last.length === 0) return undefined;
    const fade = this.#profile.fadeSince(Date.parse(event.started_at), startMs);
    const left = 1 - this.#options.min_traffic_drop / 2;
    return this.#nowPerSecond < left * fade * rate.baseline;
  }

  /** Told again where as good as nothing is left. */
  #renewed(event: AnomalyEvent, tail: () => TailBeside): Renewed | undefined {
    const { rate } = event;
    if (rate === undefined) return undefined;
    const measured = dropAgain(this.#series, event, this.#nowPerSecond);
    if (measured.severity !== 'critical' || event.severity === 'critical') return undefined;
    return { ...measured, ...tailBeside(tail(), this.#options) };
  }
}

const nothingToSay: Omit<Judgement, 'ended'> = {
  isOut: () => undefined,
  opening: () => undefined,
  renewed: () => undefined,
  isRebaselinable: false,
  resolvedSummary: (event: AnomalyEvent, resolution: Resolution) =>
    trafficResolvedSummary(event, resolution, undefined),
};
