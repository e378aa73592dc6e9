import type { Kafka } from 'kafkajs';
import type { Clock } from '../../src/base/clock.ts';
import type { Logger } from '../../src/base/telemetry/log.ts';
import type { Metrics } from '../../src/base/telemetry/metrics.ts';
import type { Config } from '../../src/config/schema.ts';
import { Ingester } from '../../src/ingest/ingester.ts';
import { KafkaSource } from '../../src/kafka/kafka-source.ts';
import { WatchedSource } from '../../src/kafka/liveness/watched-source.ts';
import { ClickHouseChunkStore } from '../../src/sink/chunks/chunk-store.ts';
import { ObservedStore } from '../../src/sink/chunks/observed-store.ts';
import { pinDeduplication } from '../../src/sink/client/insert-settings.ts';
import { findServer } from '../../src/sink/guard/one-server.ts';
import { StoreGuard } from '../../src/sink/guard/store-guard.ts';
import { requireEngines } from '../../src/sink/guard/table-engines.ts';
import type { Source } from '../../src/source/source.ts';
import { simClickHouseClient } from './clickhouse-client.ts';
import { Endpoint } from './endpoint.ts';
import type { Owner } from './scheduler.ts';
import type { SimClickHouse } from './sim-clickhouse.ts';
import type { SimKafka } from './sim-kafka.ts';
import type { SimLetters } from './sim-publisher.ts';
import type { SimWorld } from './sim-world.ts';

export interface ProcessSetting {
  readonly world: SimWorld;
  readonly kafka: SimKafka;
  readonly clickhouse: SimClickHouse;
  readonly letters: SimLetters;
  readonly database: string;
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** True where it has the watchdog of docs/explained/liveness.md; results must be exact without it too. */
  readonly isWatched: boolean;
  /** A kafkajs client with this id. */
  readonly client: (clientId: string) => Kafka;
  /** Called at its end, with the reason. */
  readonly onGone: (process: SimProcess, why: string) => void;
}

/** As in src/pipeline.ts: the request timeout and a grace. */
const LONGEST_CALL_MS = 65_000;
/** Time for a stopping process before it is killed. */
const STOP_MS = 10_000;

/** One process of the ingest role, from its start to its end: its own source, ingester and clock. */
export class SimProcess implements Owner {
  readonly name: string;
  state: Owner['state'] = 'up';
  readonly setting: ProcessSetting;
  readonly endpoint: Endpoint;
  readonly #bootMs: number;
  /** Milliseconds by which its wall clock is ahead. */
  skewMs: number;
  #guard: StoreGuard | undefined;
  #ingester: Ingester | undefined;
  #isEnding = false;
  goneBecause = '';

  constructor(name: string, skewMs: number, setting: ProcessSetting) {
    this.name = name;
    this.skewMs = skewMs;
    this.setting = setting;
    this.#bootMs = setting.world.scheduler.nowMs;
    const die = () => this.die('at a call');
    this.endpoint = new Endpoint(setting.world, this, die, () => this.terminate());
    setting.kafka.endpoints.set(name, this.endpoint);
  }

  get wallMs(): number {
    const { epochMs, scheduler } = this.setting.world;
    return epochMs + Math.floor(scheduler.nowMs + this.skewMs);
  }

  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** Starts; to be called as itself. */
  start(): void {
    this.#startGuarded().catch((error: unknown) => this.#fail(error));
  }

  /** As src/ingest/start-ingest-thread.ts does. */
  async #startGuarded(): Promise<void> {
    const { config, log, metrics, clickhouse, letters, database } = this.setting;
    const clock = this.#clock();
    const open = () => simClickHouseClient(this.endpoint, clickhouse, database);
    const clickhouseClient = open();
    const guard = await StoreGuard.open({
      clock,
      log,
      database: {
        find: (connections) => findServer(config.clickhouse, connections, { open, clock }),
        requireEngines: () => requireEngines(clickhouseClient),
        requireDeduplication: async () => void (await pinDeduplication(clickhouseClient)),
        // No run migrates its database.
        renewLease: async () => undefined,
        releaseLease: async () => undefined,
        requireSchema: async () => undefined,
      },
    });
    if (this.#isEnding) return;
    this.#guard = guard;
    const requireServer = (identity: string) => guard.requireServer(identity);
    const chunkStore = new ClickHouseChunkStore(clickhouseClient, this.name, requireServer);
    const store = new ObservedStore(chunkStore, clock, LONGEST_CALL_MS);
    const source = this.#source(clock, store);
    const publisher = letters.publisherOf(this.endpoint);
    const ingester = new Ingester({
      ...{ config, source, store, publisher, log, metrics, clock },
      storeId: guard.storeId,
      permit: (of) => store.waiting(of, () => guard.permit()),
      clockAheadMs: (of) => store.waiting(of, () => guard.clockAheadMs()),
    });
    this.#ingester = ingester;
    const fail = (error: unknown) => this.#fail(error);
    source.done.catch(fail);
    ingester.failed.catch(fail);
    guard.failed.catch(fail);
    await ingester.start();
  }

  #source(clock: Clock, store: ObservedStore): Source {
    const { config, log, metrics, client } = this.setting;
    const kafka = client(this.name);
    if (!this.setting.isWatched) return new KafkaSource(config.kafka, { log, kafka, clock });
    const probeKafka = client(this.name);
    const storeWaitMs = store.waitMs.bind(store);
    return new WatchedSource(
      { config, kafka, probeKafka, clock, storeWaitMs, log, metrics },
      (observed) => new KafkaSource(config.kafka, { log, kafka: observed, clock }),
    );
  }

  /** SIGTERM: drains, ends. To be called as itself. */
  terminate(): void {
    if (this.#isEnding || this.state === 'dead') return;
    this.#isEnding = true;
    const end = () => this.die('it has drained');
    this.setting.world.scheduler.at(STOP_MS, this, () => this.die('it took too long to end'));
    if (this.#ingester === undefined) end();
    else if (this.#guard?.hasFailed === true) this.#ingester.abandon().then(end, end);
    else this.#ingester.drain().then(end, end);
  }

  /** Kills it at this moment; its sent requests are still on their way. */
  die(why: string): void {
    if (this.state === 'dead') return;
    this.state = 'dead';
    this.goneBecause = why;
    this.setting.world.trace?.(this.name, `is gone: ${why}`);
    this.setting.kafka.endpoints.delete(this.name);
    this.setting.onGone(this, why);
  }

  #fail(error: unknown): void {
    if (this.state === 'dead' || this.#isEnding) return;
    const message = error instanceof Error ? error.message : String(error);
    this.setting.world.trace?.(this.name, `ends: ${message}`);
    this.terminate();
  }

  #clock(): Clock {
    const { scheduler } = this.setting.world;
    return {
      nowMs: () => this.wallMs,
      elapsedMs: () => scheduler.nowMs - this.#bootMs,
      sleep: (ms) => new Promise((resolve) => scheduler.at(ms, this, resolve)),
      yieldToEventLoop: () => new Promise((resolve) => scheduler.at(0, this, resolve)),
      every: (ms, action) => {
        let next = scheduler.at(ms, this, tick);
        const self = this;
        function tick() {
          next = scheduler.at(ms, self, tick);
          action();
        }
        return () => {
          next.isCancelled = true;
        };
      },
    };
  }
}
