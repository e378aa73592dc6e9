import { join } from 'node:path';
import { OperatorError } from '../../src/base/operator-error.ts';
import {
  type ClickHouseServer,
  startClickHouse,
} from '../../src/local/clickhouse/clickhouse-server.ts';
import { type KafkaBroker, startKafka } from '../../src/local/kafka/kafka-broker.ts';
import { choosePorts } from '../../src/local/local-ports.ts';
import { poll } from '../e2e/kit/poll.ts';

interface Ports {
  readonly kafka: number;
  readonly controller: number;
  readonly clickhouse: number;
}

const onProgress = () => undefined;
/** A port may be held for a moment by a connection of a client that looks for the server. */
const startDeadlineMs = 120_000;

/**
 * A Kafka and a ClickHouse of one run, to be killed and restarted on their data and ports. Both end with this
 * process, however it ends.
 */
export class ChaosServers {
  readonly brokers: readonly string[];
  readonly clickhousePort: number;
  readonly #dir: string;
  readonly #ports: Ports;
  #kafka: KafkaBroker | undefined;
  #clickhouse: ClickHouseServer | undefined;
  #clickhouseDeaths = 0;
  #reviving: Promise<void> = Promise.resolve();
  #isStopping = false;

  private constructor(dir: string, ports: Ports) {
    this.#dir = dir;
    this.#ports = ports;
    this.brokers = [`127.0.0.1:${ports.kafka}`];
    this.clickhousePort = ports.clickhouse;
  }

  /**
   * @param dir a directory of their own
   * @throws {OperatorError} where the machine lacks what they need
   */
  static async start(dir: string): Promise<ChaosServers> {
    const free = { flag: 'port' };
    const [kafka = 0, controller = 0, clickhouse = 0] = await choosePorts([free, free, free]);
    const servers = new ChaosServers(dir, { kafka, controller, clickhouse });
    const started = await Promise.allSettled([servers.#runKafka(), servers.#runClickHouse()]);
    for (const outcome of started) {
      if (outcome.status === 'fulfilled') continue;
      await servers.stop();
      throw outcome.reason;
    }
    return servers;
  }

  /** Kills with -9 and waits for the end. */
  async killKafka(): Promise<void> {
    await kill(this.#kafka);
    this.#kafka = undefined;
  }

  async stopKafka(): Promise<void> {
    await this.#kafka?.stop();
    this.#kafka = undefined;
  }

  /** Resolves when it responds again. */
  startKafka(): Promise<void> {
    return again('Kafka starts again', () => this.#runKafka());
  }

  /** Number of deaths of ClickHouse by itself; it was restarted each time. */
  get clickhouseDeaths(): number {
    return this.#clickhouseDeaths;
  }

  async killClickHouse(): Promise<void> {
    await this.#reviving;
    const server = this.#clickhouse;
    this.#clickhouse = undefined;
    await kill(server);
  }

  startClickHouse(): Promise<void> {
    return again('ClickHouse starts again', () => this.#runClickHouse());
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#reviving;
    await Promise.all([this.#kafka?.stop(), this.#clickhouse?.stop()]);
  }

  async #runKafka(): Promise<void> {
    this.#kafka = await startKafka({
      dataDir: join(this.#dir, 'kafka'),
      port: this.#ports.kafka,
      controllerPort: this.#ports.controller,
      onProgress,
    });
  }

  async #runClickHouse(): Promise<void> {
    const server = await startClickHouse({
      dataDir: join(this.#dir, 'clickhouse'),
      httpPort: this.#ports.clickhouse,
      database: 'tailmark',
      onProgress,
    });
    this.#clickhouse = server;
    // 26.7 ends with "terminate called" when a connection breaks while it responds.
    void server.exited.then(() => {
      if (this.#isStopping || this.#clickhouse !== server) return;
      this.#clickhouse = undefined;
      this.#clickhouseDeaths++;
      this.#reviving = this.startClickHouse().catch(() => undefined);
    });
  }
}

async function kill(server: KafkaBroker | ClickHouseServer | undefined): Promise<void> {
  if (server === undefined) return;
  process.kill(server.pid, 'SIGKILL');
  await server.exited;
}

async function again(what: string, start: () => Promise<void>): Promise<void> {
  let failure: unknown;
  await poll(
    what,
    async () => {
      try {
        await start();
        return true;
      } catch (error) {
        if (!(error instanceof OperatorError)) throw error;
        failure = error.message;
        return undefined;
      }
    },
    { deadlineMs: startDeadlineMs, seen: () => failure },
  );
}
