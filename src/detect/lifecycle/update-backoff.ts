import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import type { StateArchive } from '../../snapshot/archive.ts';

/** Wait before the first update; it doubles with each update, up to this often. */
const firstWaitMs = 5 * 60_000;
const maxDoublings = 6;
/** Shortest wait between updates of an intermittent anomaly. */
const intermittentWaitMs = 60 * 60_000;

/**
 * Wait between the events of an anomaly: five minutes, then ten, and so on. It is measured in event time,
 * so a replay of the same windows emits the same events.
 */
export class UpdateBackoff {
  readonly #windowMs: number;
  /** Start of the last window, and of the one with the last event. */
  #windowStartMs = Number.NaN;
  #emittedMs = Number.NaN;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Advances to the next window. After a restore the time of `last` gives the window of the last event. */
  reach(windowStartMs: number, last: AnomalyEvent): void {
    this.#windowStartMs = windowStartMs;
    if (!Number.isNaN(this.#emittedMs)) return;
    const windowMs = this.#windowMs;
    const endMs = Date.parse(last.emitted_at) - windowMs;
    this.#emittedMs = Math.floor(endMs / windowMs) * windowMs;
  }

  /** Restarts the wait: the last window has emitted an event. */
  begin(): void {
    this.#emittedMs = this.#windowStartMs;
  }

  hasElapsed({ revision }: AnomalyEvent, isIntermittent = false): boolean {
    const waitMs = firstWaitMs * 2 ** Math.min(revision - 1, maxDoublings);
    const leastMs = isIntermittent ? intermittentWaitMs : 0;
    return this.#windowStartMs - this.#emittedMs >= Math.max(waitMs, leastMs);
  }

  serialize(state: StateArchive): void {
    state.section('update wait', 1, () => {
      this.#windowStartMs = state.number(this.#windowStartMs);
      this.#emittedMs = state.number(this.#emittedMs);
    });
  }
}
