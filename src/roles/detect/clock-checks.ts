import type { Clock } from '../../base/clock.ts';
import { minuteMs } from '../../base/time.ts';
import type { ClockWatch } from '../../sink/guard/clock-watch.ts';
import type { FoundServer } from '../../sink/guard/one-server.ts';

export interface ClockChecksOptions {
  /** Asks ClickHouse, on a new connection. */
  readonly find: () => Promise<FoundServer>;
  readonly watch: Pick<ClockWatch, 'observe' | 'problems'>;
  readonly clock: Pick<Clock, 'every'>;
}

const INTERVAL_MS = minuteMs;

/** Compares the clock of a detector with ClickHouse's at its start, and each minute. */
export class ClockChecks {
  readonly #options: ClockChecksOptions;
  #checking: Promise<void> | undefined;
  #stopTicking: () => void = () => undefined;

  constructor(options: ClockChecksOptions) {
    this.#options = options;
  }

  /** @throws what the first look throws. */
  async start(): Promise<FoundServer> {
    const { find, watch, clock } = this.#options;
    const found = await find();
    watch.observe(found.clockAheadMs);
    this.#stopTicking = clock.every(INTERVAL_MS, () => {
      this.#checking ??= this.#check().finally(() => {
        this.#checking = undefined;
      });
    });
    return found;
  }

  problems(): readonly string[] {
    return this.#options.watch.problems();
  }

  stop(): void {
    this.#stopTicking();
  }

  /** While ClickHouse does not respond, the last difference stays: the steps of the detector report it. */
  async #check(): Promise<void> {
    const { find, watch } = this.#options;
    const found = await find().catch(() => undefined);
    if (found !== undefined) watch.observe(found.clockAheadMs);
  }
}
