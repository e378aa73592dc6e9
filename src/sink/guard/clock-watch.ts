import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import type { Metrics } from '../../base/telemetry/metrics.ts';

export interface ClockWatchOptions {
  readonly role: 'ingest' | 'detect';
  /** `windows.max_future` where events are read: those that seem further ahead are rejected. @default none */
  readonly maxFutureMs?: number;
  readonly clock: Pick<Clock, 'elapsedMs'>;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** agrees: within the tolerance. differs: not ready. holds: events are not read. */
type ClockState = 'agrees' | 'differs' | 'holds';

/** Synchronized clocks differ by less. */
const TOLERATED_MS = 5_000;

/**
 * Compares the local clock with ClickHouse's. A clock that is slow by more than `windows.max_future` would
 * reject every event as ahead of time. So from half of it on, events are not read until the clocks agree. A
 * detector by a slow clock evaluates each window as much later.
 */
export class ClockWatch {
  readonly #options: ClockWatchOptions;
  readonly #holdsFromMs: number;
  #aheadMs = 0;
  #state: ClockState = 'agrees';
  #heldSinceMs = 0;

  constructor(options: ClockWatchOptions) {
    this.#options = options;
    const { maxFutureMs = Number.POSITIVE_INFINITY } = options;
    this.#holdsFromMs = maxFutureMs / 2;
  }

  /** @param aheadMs the local clock against the server's; negative when it is behind. */
  observe(aheadMs: number): void {
    const { role, clock, metrics } = this.#options;
    this.#aheadMs = aheadMs;
    metrics.clockAheadSeconds.set(aheadMs / 1000);
    const state = this.#stateOf(Math.abs(aheadMs));
    if (role === 'ingest') metrics.clockHoldsReading.set(state === 'holds' ? 1 : 0);
    if (state === this.#state) return;
    if (state === 'holds') this.#heldSinceMs = clock.elapsedMs();
    this.#log(state);
    this.#state = state;
  }

  get holdsReading(): boolean {
    return this.#state === 'holds';
  }

  /** Time for which events have not been read for it; 0 while they are. */
  heldMs(): number {
    return this.holdsReading ? this.#options.clock.elapsedMs() - this.#heldSinceMs : 0;
  }

  problems(): string[] {
    return this.#state === 'agrees' ? [] : [`${this.#options.role}: ${this.#text(this.#state)}`];
  }

  #stateOf(differenceMs: number): ClockState {
    if (differenceMs >= this.#holdsFromMs) return 'holds';
    return differenceMs > TOLERATED_MS ? 'differs' : 'agrees';
  }

  #log(state: ClockState): void {
    const fields = { ahead_seconds: this.#aheadMs / 1000 };
    const { log } = this.#options;
    if (state === 'agrees') log.info(fields, 'the clock agrees with that of ClickHouse');
    else if (state === 'differs') log.warn(fields, this.#text(state));
    else log.error(fields, this.#text(state));
  }

  #text(state: 'differs' | 'holds'): string {
    const seconds = (Math.abs(this.#aheadMs) / 1000).toFixed(1);
    const side = this.#aheadMs > 0 ? 'ahead of' : 'behind';
    return `the clock of this machine is ${seconds} s ${side} that of ClickHouse${this.#consequence(state)}`;
  }

  #consequence(state: 'differs' | 'holds'): string {
    if (state === 'holds') {
      return `; no events are read until they are less than ${this.#holdsFromMs / 1000} s apart`;
    }
    const isLate = this.#options.role === 'detect' && this.#aheadMs < 0;
    return isLate ? '; pages come as much later' : '';
  }
}
