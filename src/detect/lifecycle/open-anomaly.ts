import { invariant } from '../../base/invariant.ts';
import type { AnomalyEvent, Resolution } from '../../contract/anomaly-event.ts';
import { type StateArchive, serializeFields } from '../../snapshot/archive.ts';
import { serializeEvent } from '../event/serialize-event.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import type { ResolvePolicy } from './flap-history.ts';
import { type Peak, peakField, sizeOf, worseOf } from './peak.ts';
import { UpdateBackoff } from './update-backoff.ts';

/** Fields that an update may change. */
export type EventUpdate = Partial<
  Omit<AnomalyEvent, 'id' | 'revision' | 'dedup_key' | 'state' | 'kind' | 'started_at'>
>;

/** Clear windows between anomalous ones from which an anomaly is intermittent. */
const pauseWindows = 3;

/**
 * One anomaly of any kind, from opening to resolving. Each of its events is the previous one with some changes
 * and the next revision.
 */
export class OpenAnomaly {
  readonly policy: ResolvePolicy;
  protected readonly options: DetectOptions;
  /** True once one of its events was emitted. */
  isEmitted: boolean;
  #event: AnomalyEvent;
  readonly #backoff: UpdateBackoff;
  #clearWindows = 0;
  /** Start of the first of these. */
  #clearFromMs = Number.NaN;
  #isIntermittent = false;
  #lastEvaluatedMs = Number.NaN;
  /** The worst so far of what its event measures. */
  #peak: Peak | undefined;
  /** Its event with later measurements. */
  #now: AnomalyEvent | undefined;

  constructor(
    event: AnomalyEvent,
    options: DetectOptions,
    isEmitted: boolean,
    policy: ResolvePolicy,
  ) {
    this.#event = event;
    this.options = options;
    this.isEmitted = isEmitted;
    this.policy = policy;
    this.#peak = event.peak ?? sizeOf(event);
    this.#backoff = new UpdateBackoff(options.window);
  }

  /** Saves or restores all but what the constructor is given. */
  serialize(state: StateArchive): void {
    state.section('open anomaly', 12, () => {
      this.#backoff.serialize(state);
      this.#clearWindows = state.number(this.#clearWindows);
      this.#clearFromMs = state.number(this.#clearFromMs);
      this.#isIntermittent = state.flag(this.#isIntermittent);
      this.#lastEvaluatedMs = state.number(this.#lastEvaluatedMs);
      this.#peak = state.optional(this.#peak, (peak) => serializePeak(state, peak));
      this.#now = state.optional(this.#now, (event) => serializeEvent(state, event));
    });
  }

  get event(): AnomalyEvent {
    return this.#event;
  }

  /** Its event as of the last window that could be measured. */
  get now(): AnomalyEvent {
    return this.#now ?? this.#event;
  }

  /** True where it is as good as over: what it measures now would not keep it open. */
  get isBack(): boolean {
    return false;
  }

  get startedAtMs(): number {
    return Date.parse(this.#event.started_at);
  }

  /** Starts in the window that opened it, or that is the first after it was restored. */
  start(windowStartMs: number): void {
    this.#lastEvaluatedMs = windowStartMs;
    this.reach(windowStartMs);
  }

  reach(windowStartMs: number): void {
    this.#backoff.reach(windowStartMs, this.#event);
  }

  /** Starts the backoff: the last window emitted the opening event. */
  begin(): void {
    this.#backoff.begin();
  }

  /** Counts a window with enough traffic. */
  count(windowStartMs: number, isAnomalous: boolean): void {
    this.#lastEvaluatedMs = windowStartMs;
    if (isAnomalous && this.#clearWindows >= pauseWindows) this.#isIntermittent = true;
    if (isAnomalous) this.#clearWindows = 0;
    else if (this.#clearWindows++ === 0) this.#clearFromMs = windowStartMs;
  }

  /** Clear windows in a row. */
  protected get clearWindows(): number {
    return this.#clearWindows;
  }

  /** End of its last anomalous window as far as is known; of use once it is over. */
  protected get endedAtMs(): number {
    if (this.#clearWindows > 0) return this.#clearFromMs;
    return this.#lastEvaluatedMs + this.options.window;
  }

  /** Milliseconds since the last window with enough traffic. */
  silentMs(windowStartMs: number): number {
    return windowStartMs - this.#lastEvaluatedMs;
  }

  /** True once its effect is too small for long, though single windows are anomalous. */
  get hasDecayed(): boolean {
    return false;
  }

  /** True once enough clear windows followed each other, or it has decayed. */
  get isOver(): boolean {
    return this.#clearWindows >= this.policy.clearWindows || this.hasDecayed;
  }

  /** Keeps a replayed anomaly open: only a live window may resolve an emitted one. */
  holdOpen(): void {
    this.#clearWindows = Math.min(this.#clearWindows, this.policy.clearWindows - 1);
  }

  /** True once the backoff since the last event has elapsed. */
  get isUpdateDue(): boolean {
    return this.#backoff.hasElapsed(this.#event, this.#isIntermittent);
  }

  /** Records how it is in a window; it counts to the peak if it is of what the event measures. */
  measured(present: EventUpdate): void {
    const now = { ...this.#event, ...present };
    if (now.evidence.measured_stage === this.#event.evidence.measured_stage) this.#raise(now);
    this.#now = { ...now, ...peakField(this.#peak) };
  }

  #raise(event: AnomalyEvent): void {
    const size = sizeOf(event);
    const last = this.#peak;
    if (size === undefined) return;
    this.#peak = last === undefined ? size : worseOf(last, size, event.rate?.unit);
  }

  /** Emits the event for the first time. */
  emit(nowMs: number): AnomalyEvent {
    invariant(!this.isEmitted, `anomaly ${this.#event.id} was emitted before`);
    this.isEmitted = true;
    this.#backoff.begin();
    const iso = new Date(nowMs).toISOString();
    const peak = peakField(this.#peak);
    this.#event = { ...this.#event, ...peak, detected_at: iso, emitted_at: iso };
    return this.#event;
  }

  adopt(published: AnomalyEvent): void {
    this.isEmitted = true;
    this.#event = published;
    const { peak, detected_at, emitted_at } = published;
    if (this.#now !== undefined) this.#now = { ...this.#now, detected_at, emitted_at };
    if (peak === undefined || this.#peak === undefined) this.#peak = peak ?? this.#peak;
    else this.#peak = worseOf(peak, this.#peak, published.rate?.unit);
  }

  update(update: EventUpdate, nowMs: number): AnomalyEvent {
    this.#backoff.begin();
    const next = { ...this.#event, ...update };
    // The worst of one stage is no peak of another.
    if (next.evidence.measured_stage !== this.#event.evidence.measured_stage)
      this.#peak = undefined;
    this.#raise(next);
    return this.#next({ ...update, state: 'updated' }, nowMs);
  }

  resolve(
    resolution: Resolution,
    summary: string,
    nowMs: number,
    more: Pick<AnomalyEvent, 'recovered'> = {},
  ): AnomalyEvent {
    const resolved_at = new Date(nowMs).toISOString();
    // An anomaly that has become the baseline has not ended.
    const ended_at = resolution === 'rebaselined' ? null : new Date(this.endedAtMs).toISOString();
    const end = { resolution, ended_at, resolved_at, summary, ...more };
    return this.#next({ state: 'resolved', ...end }, nowMs);
  }

  #next(changed: Partial<AnomalyEvent>, nowMs: number): AnomalyEvent {
    this.#now = undefined;
    this.#event = {
      ...this.#event,
      ...changed,
      ...peakField(this.#peak),
      revision: this.#event.revision + 1,
      emitted_at: new Date(nowMs).toISOString(),
    };
    return this.#event;
  }
}

function serializePeak(state: StateArchive, saved: Peak | undefined): Peak {
  const none = { observed_ms: 0, ratio: 0, at: '' };
  const peak = serializeFields(state, saved, none);
  const rate = state.optional(saved?.rate, (each = 0) => state.number(each));
  return { ...peak, ...(rate !== undefined && { rate }) };
}
