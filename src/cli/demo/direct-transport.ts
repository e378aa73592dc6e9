import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { systemClock } from '../../base/clock.ts';
import type { Config } from '../../config/schema.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import type { OutgoingMessage } from '../../kafka/client/publisher.ts';
import type { LocalClickHouse } from '../../local/stack/local-stack.ts';
import { readEvents } from '../../sink/anomalies/anomaly-store.ts';
import { openClickHouse } from '../../sink/client/clickhouse.ts';
import type { DemoConnection, DemoTransport } from './demo-transport.ts';

/** Interval at which anomalies are read from their table. */
const POLL_MS = 250;

/** Sends events through the pipeline's standard input, and reads anomalies from their table. Needs no broker. */
export class DirectTransport implements DemoTransport {
  readonly servers: LocalClickHouse;
  readonly stdin = new PassThrough();
  readonly addresses: string;
  readonly settings = { source: { type: 'stdin' } };
  readonly commands = [];
  readonly #signal: AbortSignal;

  /** @param signal ends the wait for a pipeline that accepts nothing. */
  constructor(servers: LocalClickHouse, signal: AbortSignal) {
    this.servers = servers;
    this.addresses = `ClickHouse at ${servers.clickhouse.url}`;
    this.#signal = signal;
  }

  async prepare(): Promise<void> {}

  async connect(
    { clickhouse }: Config,
    onAnomaly: (event: AnomalyEvent) => void,
  ): Promise<DemoConnection> {
    const client = openClickHouse(clickhouse);
    const poll = async () => {
      const events = await readEvents(client, 'outbox_events', { sinceMs: 0 });
      for (const event of events) onAnomaly(event);
    };
    let polling: Promise<void> | undefined;
    const stop = systemClock.every(POLL_MS, () => {
      // The next poll reads again what a failed one could not.
      polling ??= poll()
        .catch(() => undefined)
        .finally(() => {
          polling = undefined;
        });
    });
    return {
      send: (messages) => this.#send(messages),
      close: async () => {
        stop();
        await polling;
        await client.close();
      },
    };
  }

  async #send(messages: readonly OutgoingMessage[]): Promise<void> {
    const text = messages.map(({ value }) => `${value}\n`).join('');
    if (!this.stdin.write(text)) {
      await once(this.stdin, 'drain', { signal: this.#signal }).catch(() => undefined);
    }
    // A pipeline that reads at once never yields, and timers and signals must be handled.
    await systemClock.yieldToEventLoop();
  }
}
