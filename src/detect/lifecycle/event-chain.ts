import { invariant } from '../../base/invariant.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import type { AnomalyEvent, Resolution } from '../event/anomaly-event.ts';
import { serializeEvent } from '../event/snapshot-event.ts';
import { UpdateBackoff } from './update-backoff.ts';

/** Fields that an update may change. */
export type EventUpdate = Partial<
  Omit<AnomalyEvent, 'id' | 'revision' | 'dedup_key' | 'state' | 'kind' | 'started_at'>
>;

/** Clear windows between anomalous ones that make an anomaly intermittent. */
const pauseWindows = 3;

/**
 * The events of one anomaly of any kind, from `opened` to `resolved`. Each is the previous one with some
 * changes and the next revision.
 */
export class EventChain {
  #event: AnomalyEvent;
  #announced: boolean;
  readonly #backoff: UpdateBackoff;
  #clearWindows = 0;
  #isIntermittent = false;

  /** @param announced whether the event was emitted. */
  constructor(event: AnomalyEvent, announced: boolean, windowMs: number) {
    this.#event = event;
    this.#announced = announced;
    this.#backoff = new UpdateBackoff(windowMs);
  }

  /** Saves a chain, or restores the saved one. */
  static serialize(
    state: StateArchive,
    saved: EventChain | undefined,
    windowMs: number,
  ): EventChain {
    let restored = saved;
    state.section('episode', 2, () => {
      const event = serializeEvent(state, saved?.event);
      const announced = state.flag(saved?.announced ?? false);
      restored ??= new EventChain(event, announced, windowMs);
      restored.#backoff.serialize(state);
      restored.#clearWindows = state.number(restored.#clearWindows);
      restored.#isIntermittent = state.flag(restored.#isIntermittent);
    });
    return restored as EventChain;
  }

  /** The last event. */
  get event(): AnomalyEvent {
    return this.#event;
  }

  get announced(): boolean {
    return this.#announced;
  }

  get startedAtMs(): number {
    return Date.parse(this.#event.started_at);
  }

  /** Advances to the next window. */
  reach(windowStartMs: number): void {
    this.#backoff.reach(windowStartMs, this.#event);
  }

  /** Starts the backoff: the last window emitted the opening event. */
  begin(): void {
    this.#backoff.begin();
  }

  /** Consecutive clear windows, up to the last one that could be evaluated. */
  get clearWindows(): number {
    return this.#clearWindows;
  }

  /** Observes whether the last window was anomalous. */
  observe(isAnomalous: boolean): void {
    if (isAnomalous && this.#clearWindows >= pauseWindows) this.#isIntermittent = true;
    this.#clearWindows = isAnomalous ? 0 : this.#clearWindows + 1;
  }

  /** Limits the count of clear windows. */
  holdOpen(most: number): void {
    this.#clearWindows = Math.min(this.#clearWindows, most);
  }

  /** True once the backoff since the last event has elapsed. */
  get isUpdateDue(): boolean {
    return this.#backoff.hasElapsed(this.#event, this.#isIntermittent);
  }

  /** Emits the event for the first time. */
  announce(nowMs: number): AnomalyEvent {
    invariant(!this.#announced, `anomaly ${this.#event.id} was announced before`);
    this.#announced = true;
    this.#backoff.begin();
    const iso = new Date(nowMs).toISOString();
    this.#event = { ...this.#event, detected_at: iso, emitted_at: iso };
    return this.#event;
  }

  /** Replaces the event by the published one, which another detector may have emitted earlier. */
  adopt(published: AnomalyEvent): void {
    this.#announced = true;
    this.#event = published;
  }

  /** Marks the event as not emitted: it is announced if the anomaly still opens. */
  unannounce(): void {
    this.#announced = false;
  }

  update(update: EventUpdate, nowMs: number): AnomalyEvent {
    this.#backoff.begin();
    return this.#next({ ...update, state: 'updated' }, nowMs);
  }

  resolve(resolution: Resolution, summary: string, nowMs: number): AnomalyEvent {
    const resolved_at = new Date(nowMs).toISOString();
    return this.#next({ state: 'resolved', resolution, resolved_at, summary }, nowMs);
  }

  #next(changed: Partial<AnomalyEvent>, nowMs: number): AnomalyEvent {
    this.#event = {
      ...this.#event,
      ...changed,
      revision: this.#event.revision + 1,
      emitted_at: new Date(nowMs).toISOString(),
    };
    return this.#event;
  }
}
