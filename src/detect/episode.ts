import { invariant } from '../base/invariant.ts';
import type { AnomalyEvent, Resolution } from './anomaly-event.ts';

/** What an update may say anew. */
export type Renewed = Partial<
  Omit<AnomalyEvent, 'id' | 'revision' | 'dedup_key' | 'state' | 'kind' | 'started_at'>
>;

/**
 * The events of one anomaly, of whatever kind, from the one that opens it to the one that resolves it:
 * each is the one before with what has changed, one revision later.
 */
export class Episode {
  #event: AnomalyEvent;
  #announced: boolean;

  /** @param announced whether the event has gone out. */
  constructor(event: AnomalyEvent, announced: boolean) {
    this.#event = event;
    this.#announced = announced;
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

  /** The event as it goes out, the first time. */
  announce(nowMs: number): AnomalyEvent {
    invariant(!this.#announced, `anomaly ${this.#event.id} was announced before`);
    this.#announced = true;
    const iso = new Date(nowMs).toISOString();
    this.#event = { ...this.#event, detected_at: iso, emitted_at: iso };
    return this.#event;
  }

  /** What has gone out by this name counts: others may have told it first, at another time. */
  take(told: AnomalyEvent): void {
    this.#announced = true;
    this.#event = told;
  }

  /** Nobody was told: it is announced if it still opens. */
  unannounce(): void {
    this.#announced = false;
  }

  update(renewed: Renewed, nowMs: number): AnomalyEvent {
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
