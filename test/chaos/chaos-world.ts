import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '../../src/config/load/load-config.ts';
import type { Config } from '../../src/config/schema.ts';
import { ensureTopics } from '../../src/kafka/client/kafka-topics.ts';
import { migrate } from '../../src/sink/migrate/migrate.ts';
import { poll } from '../e2e/kit/poll.ts';
import { ChaosServers } from './chaos-servers.ts';
import { FaultyProxy } from './faulty-proxy.ts';
import { LedgerWatch } from './ledger-watch.ts';
import { MemberFleet } from './member-fleet.ts';

export interface ChaosWorldOptions {
  /** Directory for the servers' data. */
  readonly dir: string;
  readonly partitions: number;
  /** Configuration by environment variable, without the TAILMARK_ before each. */
  readonly settings: Readonly<Record<string, string>>;
  /** Ends every wait. */
  readonly signal: AbortSignal;
}

/**
 * Real servers, ingesters that reach ClickHouse only through a proxy, and access to the ledger past the
 * proxy. `close` ends all of it.
 */
export class ChaosWorld {
  readonly servers: ChaosServers;
  readonly proxy: FaultyProxy;
  readonly fleet: MemberFleet;
  readonly ledger: LedgerWatch;
  /** The ingesters' configuration, past the proxy. */
  readonly config: Config;
  /** All of the environment of a command past the proxy. */
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;

  private constructor(
    servers: ChaosServers,
    proxy: FaultyProxy,
    env: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ) {
    this.servers = servers;
    this.proxy = proxy;
    this.env = env;
    this.signal = signal;
    this.config = loadConfig({ env, readFile: () => '' }).config;
    this.ledger = new LedgerWatch(this.config.clickhouse);
    const url = `http://127.0.0.1:${proxy.port}`;
    this.fleet = new MemberFleet({ env: { ...env, TAILMARK_CLICKHOUSE_URL: url }, signal });
  }

  static async open(options: ChaosWorldOptions): Promise<ChaosWorld> {
    const { dir, partitions, settings, signal } = options;
    const servers = await ChaosServers.start(join(dir, 'servers'));
    const proxy = await FaultyProxy.start(servers.clickhousePort);
    const own: Record<string, string> = {
      KAFKA_BROKERS: servers.brokers.join(','),
      KAFKA_TOPICS: 'chaos',
      KAFKA_GROUP_ID: 'chaos',
      CLICKHOUSE_URL: `http://127.0.0.1:${servers.clickhousePort}`,
      ...settings,
    };
    const env = Object.fromEntries(
      Object.entries(own).map(([key, value]) => [`TAILMARK_${key}`, value]),
    );
    const world = new ChaosWorld(servers, proxy, env, signal);
    try {
      const { kafka, clickhouse } = world.config;
      await ensureTopics(kafka, [{ topic: kafka.topics[0] as string, partitions }]);
      await migrate(clickhouse);
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  /** Resolves with the first result that is not undefined; see `poll`. */
  until<T>(
    what: string,
    ask: () => T | undefined | Promise<T | undefined>,
    options: { deadlineMs?: number; seen?: () => unknown } = {},
  ): Promise<T> {
    const { deadlineMs = 120_000, seen = () => this.fleet.tail() } = options;
    const asking = () => {
      this.signal.throwIfAborted();
      return ask();
    };
    return poll(what, asking, { deadlineMs, seen });
  }

  /** Waits for a seeded time: a fault's own length, never for a state. */
  async pass(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.signal });
  }

  async close(): Promise<void> {
    await this.fleet.close();
    await Promise.allSettled([this.ledger.close(), this.proxy.close()]);
    await this.servers.stop();
  }
}
