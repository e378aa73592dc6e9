import type { Clock } from '../../base/clock.ts';
import type { Config } from '../../config/schema.ts';
import { isUnreachable, openClickHouse } from './clickhouse.ts';

/**
 * When a server counts as silent.
 *
 * | value | unit | why |
 * |---|---|---|
 * | 1 s | interval of pings | it is seen at once that it responds again |
 * | 4 s | longest wait for a response | two pings are over within ten seconds |
 * | 2 | consecutive pings | one may be lost with its connection |
 * | 8 s | since the start of the first of them | a server restarts within that |
 */
export const pingLimits = {
  intervalMs: 1_000,
  responseMs: 4_000,
  pings: 2,
  silentMs: 8_000,
} as const;

export interface PingWatchOptions {
  /** Returns whether the server responded. */
  readonly ping: () => Promise<boolean>;
  readonly clock: Pick<Clock, 'elapsedMs' | 'every'>;
  /** Called after each ping while the server is silent. @default nothing */
  readonly onSilent?: (silentMs: number) => void;
}

/**
 * Pings a server at an interval: one that hangs accepts connections, and a statement may rightly take long.
 * So only pings show soon that it hangs.
 */
export class PingWatch {
  readonly #options: PingWatchOptions;
  readonly #stop: () => void;
  #isPinging = false;
  #failures = 0;
  /** Start of the first of the pings that failed. */
  #failingSinceMs = 0;

  constructor(options: PingWatchOptions) {
    this.#options = options;
    this.#stop = options.clock.every(pingLimits.intervalMs, () => void this.#ping());
    void this.#ping();
  }

  /** Time for which the server has responded to no ping, in milliseconds; 0 unless it is silent. */
  get silentMs(): number {
    if (this.#failures < pingLimits.pings) return 0;
    const ms = this.#options.clock.elapsedMs() - this.#failingSinceMs;
    return ms < pingLimits.silentMs ? 0 : ms;
  }

  stop(): void {
    this.#stop();
  }

  /** One at a time. */
  async #ping(): Promise<void> {
    if (this.#isPinging) return;
    this.#isPinging = true;
    const startMs = this.#options.clock.elapsedMs();
    const hasResponded = await this.#options.ping().catch(() => false);
    this.#isPinging = false;
    const tookMs = this.#options.clock.elapsedMs() - startMs;
    // This process itself was suspended or busy: the response may be there, unread.
    if (!hasResponded && tookMs > pingLimits.responseMs + pingLimits.intervalMs) return;
    if (hasResponded) this.#failures = 0;
    else if (++this.#failures === 1) this.#failingSinceMs = startMs;
    if (this.silentMs > 0) this.#options.onSilent?.(this.silentMs);
  }
}

/** Pings the configured server on a connection that no statement holds up. */
export function openPingWatch(
  config: Config['clickhouse'],
  options: Omit<PingWatchOptions, 'ping'>,
): Pick<PingWatch, 'silentMs' | 'stop'> {
  const pinged = { ...config, request_timeout: pingLimits.responseMs };
  const client = openClickHouse(pinged, { useDatabase: false });
  const watch = new PingWatch({
    ...options,
    ping: async () => {
      const result = await client.ping();
      // A refusal is a response too.
      return result.success || !isUnreachable(result.error);
    },
  });
  return {
    get silentMs() {
      return watch.silentMs;
    },
    stop() {
      watch.stop();
      void client.close();
    },
  };
}
