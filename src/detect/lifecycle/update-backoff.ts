import type { StateArchive } from '../../snapshot/archive.ts';
import type { AnomalyEvent } from '../event/anomaly-event.ts';

/** The first update waits for so long, each later one twice as long as the one before, up to this often. */
const updateEveryMs = 5 * 60_000;
const mostDoublings = 6;
/** What comes and goes is told so often at most. */
const intermittentEveryMs = 60 * 60_000;

/**
 * How long what was told rests until it may be told again: five minutes, then ten, and so on, so that what
 * lasts does not tell of every turn. Counted in event time: whoever judges the same windows later tells the
 * same.
 */
export class UpdateBackoff {
  readonly #windowMs: number;
  /** Start of the last window, and of the one that it was last told of. */
  #windowStartMs = Number.NaN;
  #emittedMs = Number.NaN;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Takes the next window. Where it is not known which one `last` was told of, its time tells. */
  reach(windowStartMs: number, last: AnomalyEvent): void {
    this.#windowStartMs = windowStartMs;
    if (!Number.isNaN(this.#emittedMs)) return;
    const windowMs = this.#windowMs;
    const endMs = Date.parse(last.emitted_at) - windowMs;
    this.#emittedMs = Math.floor(endMs / windowMs) * windowMs;
  }

  /** It is told of the last window. */
  begin(): void {
    this.#emittedMs = this.#windowStartMs;
  }

  /** @param last what was told; @param isIntermittent whether it comes and goes. */
  isOver({ revision }: AnomalyEvent, isIntermittent = false): boolean {
    const waitMs = updateEveryMs * 2 ** Math.min(revision - 1, mostDoublings);
    const leastMs = isIntermittent ? intermittentEveryMs : 0;
    return this.#windowStartMs - this.#emittedMs >= Math.max(waitMs, leastMs);
  }

  serialize(state: StateArchive): void {
    state.section('update wait', 1, () => {
      this.#windowStartMs = state.number(this.#windowStartMs);
      this.#emittedMs = state.number(this.#emittedMs);
    });
  }
}
