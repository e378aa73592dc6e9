import { invariant } from '../../base/invariant.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import type { AnomalyEvent, Resolution } from '../event/anomaly-event.ts';
import { serializeEvent } from '../event/snapshot-event.ts';
import { UpdateBackoff } from './update-backoff.ts';

/** What an update may say anew. */
export type Renewed = Partial<
  Omit<AnomalyEvent, 'id' | 'revision' | 'dedup_key' | 'state' | 'kind' | 'started_at'>
>;

/** What is out again after so many quiet windows comes and goes. */
const pauseWindows = 3;

/**
 * The events of one anomaly, of whatever kind, from the one that opens it to the one that resolves it:
 * each is the one before with what has changed, one revision later.
 */
export class EventChain {
  #event: AnomalyEvent;
  #announced: boolean;
  readonly #wait: UpdateBackoff;
  #quiet = 0;
  #isIntermittent = false;

  /** @param announced whether the event has gone out. */
  constructor(event: AnomalyEvent, announced: boolean, windowMs: number) {
    this.#event = event;
    this.#announced = announced;
    this.#wait = new UpdateBackoff(windowMs);
  }

  /** Saves one, or makes the one that was saved. */
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
      restored.#wait.serialize(state);
      restored.#quiet = state.number(restored.#quiet);
      restored.#isIntermittent = state.flag(restored.#isIntermittent);
    });
    return restored as EventChain;
  }

  /** The last one. */
  get event(): AnomalyEvent {
    return this.#event;
  }

  get announced(): boolean {
    return this.#announced;
  }

  get startedAtMs(): number {
    return Date.parse(this.#event.started_at);
  }

  /** Takes the next window; what follows is told of it. */
  reach(windowStartMs: number): void {
    this.#wait.reach(windowStartMs, this.#event);
  }

  /** It was opened, and told, in the last window. */
  begin(): void {
    this.#wait.begin();
  }

  /** Windows in a row, up to the last one that could tell, in which it was not out. */
  get clearWindows(): number {
    return this.#quiet;
  }

  /** Takes whether it was out in the last window. */
  observe(isOut: boolean): void {
    if (isOut && this.#quiet >= pauseWindows) this.#isIntermittent = true;
    this.#quiet = isOut ? 0 : this.#quiet + 1;
  }

  /** Takes it for quiet for so many windows at most. */
  holdOpen(most: number): void {
    this.#quiet = Math.min(this.#quiet, most);
  }

  /** Whether the last event has rested for so long that another one may follow. */
  get isUpdateDue(): boolean {
    return this.#wait.isOver(this.#event, this.#isIntermittent);
  }

  /** The event as it goes out, the first time. */
  announce(nowMs: number): AnomalyEvent {
    invariant(!this.#announced, `anomaly ${this.#event.id} was announced before`);
    this.#announced = true;
    this.#wait.begin();
    const iso = new Date(nowMs).toISOString();
    this.#event = { ...this.#event, detected_at: iso, emitted_at: iso };
    return this.#event;
  }

  /** What has gone out by this name counts: others may have told it first, at another time. */
  adopt(published: AnomalyEvent): void {
    this.#announced = true;
    this.#event = published;
  }

  /** Nobody was told: it is announced if it still opens. */
  unannounce(): void {
    this.#announced = false;
  }

  update(renewed: Renewed, nowMs: number): AnomalyEvent {
    this.#wait.begin();
    return this.#next({ ...renewed, state: 'updated' }, nowMs);
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
