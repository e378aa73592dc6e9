import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import type { WindowRange } from '../../sink/windows/window-range.ts';

/** Shortest interval between two lines. */
const everyMs = 10_000;

/** Logs the progress of a long read of past windows. */
export class ReplayProgress {
  readonly #range: WindowRange;
  readonly #log: Logger;
  readonly #clock: Pick<Clock, 'elapsedMs'>;
  #loggedMs: number;

  constructor(range: WindowRange, log: Logger, clock: Pick<Clock, 'elapsedMs'>) {
    this.#range = range;
    this.#log = log;
    this.#clock = clock;
    this.#loggedMs = clock.elapsedMs();
  }

  /** Records the window with this start as done. */
  at(startMs: number): void {
    const nowMs = this.#clock.elapsedMs();
    if (nowMs - this.#loggedMs < everyMs) return;
    this.#loggedMs = nowMs;
    const { fromMs, toMs, windowMs } = this.#range;
    const percent = Math.floor((100 * (startMs + windowMs - fromMs)) / (toMs - fromMs));
    const reached = new Date(startMs).toISOString();
    this.#log.info(
      { reached, until: new Date(toMs).toISOString(), percent },
      'reading past windows',
    );
  }
}
