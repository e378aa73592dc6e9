import { pino } from 'pino';
import { expect } from 'vitest';
import type { Logger } from '../../../src/base/telemetry/log.ts';
import type { Metrics } from '../../../src/base/telemetry/metrics.ts';
import type { Io } from '../../../src/cli/io.ts';
import { loadConfig } from '../../../src/config/load/load-config.ts';
import type { Config } from '../../../src/config/schema.ts';
import { openKafkaPublisher } from '../../../src/kafka/client/kafka-publisher.ts';
import { ensureTopics } from '../../../src/kafka/client/kafka-topics.ts';
import type { OutgoingMessage, Publisher } from '../../../src/kafka/client/publisher.ts';
import { followTopic, type TopicMessage } from '../../../src/kafka/follow-topic.ts';
import { type Pipeline, type Role, startPipeline } from '../../../src/pipeline.ts';
import { type ClickHouseClient, openClickHouse } from '../../../src/sink/client/clickhouse.ts';
import type { Verification } from '../../../src/sink/verify.ts';
import { resolutions } from '../../../src/sink/windows/read-tails.ts';
import { type CapturedRun, run } from '../../cli/captured-io.ts';
import type { StackEndpoints } from '../../containers/global-setup.ts';
import { uniqueName } from '../../containers/unique-name.ts';
import { migratedDatabase } from './migrated-database.ts';
import { poll } from './poll.ts';
import { stageSums } from './stage-sums.ts';
import { type Child, startChild } from './start-child.ts';
import type { StageSums } from './truth.ts';

export interface RigOptions {
  readonly stack: StackEndpoints;
  /** Start of the names of its topic, group and database. */
  readonly name: string;
  /** @default {1} */
  readonly partitions?: number;
  /** Settings of the topic. */
  readonly topicSettings?: Readonly<Record<string, string>>;
  /** Configuration by environment variable, without the TAILMARK_ before each. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Output of `verify --json`. */
export type Verified = Verification;

/**
 * A topic, a group and a migrated database of one test. Tests publish, run pipelines in process or as
 * processes, and check the result.
 */
export class Rig {
  /** The environment of a process on this rig. */
  readonly env: Readonly<Record<string, string>>;
  readonly config: Config;
  readonly topic: string;
  readonly client: ClickHouseClient;
  readonly publisher: Publisher;
  /** Log lines of pipelines in process. */
  readonly logLines: string[] = [];
  readonly log: Logger = pino(
    { level: 'info', base: null },
    { write: (line: string) => this.logLines.push(line.trim()) },
  );
  readonly #children: Child[] = [];
  readonly #undo: (() => Promise<unknown>)[] = [];

  private constructor(env: Readonly<Record<string, string>>, config: Config, publisher: Publisher) {
    this.env = env;
    this.config = config;
    this.topic = config.kafka.topics[0] as string;
    this.publisher = publisher;
    this.client = openClickHouse(config.clickhouse);
  }

  static async open(options: RigOptions): Promise<Rig> {
    const { stack, partitions = 1, topicSettings = {}, settings = {} } = options;
    const name = uniqueName(options.name.replaceAll('-', '_'));
    const own: Record<string, string> = {
      KAFKA_BROKERS: stack.brokers.join(','),
      KAFKA_TOPICS: name,
      KAFKA_GROUP_ID: name,
      KAFKA_SESSION_TIMEOUT: '6s',
      CLICKHOUSE_URL: stack.clickhouseUrl,
      CLICKHOUSE_DATABASE: name,
      ALERT_TOPIC: `${name}.anomalies`,
      INGEST_FLUSH_INTERVAL: '200ms',
      // On a busy machine too a stop stores what was read.
      INGEST_STOP_TIMEOUT: '2m',
      HTTP_LISTEN: '127.0.0.1:0',
      ...settings,
    };
    const env = Object.fromEntries(
      Object.entries(own).map(([key, value]) => [`TAILMARK_${key}`, value]),
    );
    const { config } = loadConfig({ env, readFile: () => '' });
    const topic = config.kafka.topics[0] as string;
    const [publisher] = await Promise.all([
      openKafkaPublisher(config.kafka),
      ensureTopics(config.kafka, [{ topic, partitions, settings: topicSettings }]),
      migratedDatabase(config.clickhouse),
    ]);
    return new Rig(env, config, publisher);
  }

  /** Sends messages, about 1 MB a request. */
  async publish(messages: Iterable<OutgoingMessage>, topic = this.topic): Promise<void> {
    let batch: OutgoingMessage[] = [];
    let bytes = 0;
    for (const message of messages) {
      batch.push(message);
      bytes += message.value?.length ?? 0;
      if (bytes < 1_000_000 && batch.length < 5_000) continue;
      await this.publisher.publish(topic, batch);
      batch = [];
      bytes = 0;
    }
    await this.publisher.publish(topic, batch);
  }

  /** Runs roles in this process. */
  async start(
    roles: readonly Role[] = ['ingest'],
    config: Config = this.config,
    metrics?: Metrics,
  ): Promise<Pipeline> {
    const pipeline = await startPipeline(config, {
      roles,
      stdin: process.stdin,
      log: this.log,
      ...(metrics === undefined ? {} : { metrics }),
    });
    this.atEnd(() => pipeline.stop());
    return pipeline;
  }

  /** Runs a command as a process of its own. */
  spawn(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Child {
    const child = startChild(argv, { ...this.env, ...env });
    this.#children.push(child);
    return child;
  }

  /** Runs a command in this process. What it says of a busy server is left out. */
  async cli(argv: readonly string[], io: Partial<Io> = {}): Promise<CapturedRun> {
    const { err, ...ran } = await run(argv, { env: this.env, ...io });
    return { ...ran, err: err.replaceAll(/^Waiting for ClickHouse .*\n/gm, '') };
  }

  async rows<T>(query: string, params: Record<string, unknown> = {}): Promise<T[]> {
    const result = await this.client.query({ query, query_params: params, format: 'JSONEachRow' });
    return result.json<T>();
  }

  /** Events that the ledger accounts for. */
  async consumed(): Promise<number> {
    const [row] = await this.rows<{ n: string }>('SELECT sum(consumed) AS n FROM flushes');
    return Number(row?.n ?? 0);
  }

  /** Resolves when the ledger has at least so many events. */
  async untilConsumed(events: number, deadlineMs = 240_000): Promise<void> {
    let seen = 0;
    await poll(
      `${events} events in the ledger`,
      async () => {
        seen = await this.consumed();
        return seen >= events ? true : undefined;
      },
      { deadlineMs, seen: () => seen },
    );
  }

  /** The first so many messages of a topic, in the order in which they were read. */
  async read(topic: string, count: number): Promise<TopicMessage[]> {
    const messages: TopicMessage[] = [];
    const followed = await this.follow(topic, (message) => messages.push(message));
    await poll(
      `${count} messages in ${topic}`,
      () => (messages.length >= count ? true : undefined),
      {
        seen: () => messages.map(({ headers }) => headers),
      },
    );
    await followed.stop();
    return messages;
  }

  /** Follows a topic to the end of the test. */
  async follow(topic: string, onMessage: (message: TopicMessage) => void) {
    const followed = await followTopic(this.config.kafka, topic, onMessage);
    this.atEnd(() => followed.stop());
    return followed;
  }

  /** Expects exactly these sums of all four tables. */
  async expectStages(truth: StageSums): Promise<void> {
    for (const resolution of resolutions) {
      expect({ resolution, ...(await stageSums(this.client, resolution)) }).toEqual({
        resolution,
        ...truth,
      });
    }
  }

  /** Expects `tailmark verify` to succeed; returns its findings. */
  async expectVerified({ mayBeEmpty = false } = {}): Promise<Verified> {
    const { exitCode, out, err } = await this.cli(['verify', '--json']);
    const verified = JSON.parse(out || '{}') as Verified;
    if (mayBeEmpty && verified.empty && exitCode === 1) return verified;
    expect({ exitCode, err, ok: verified.ok, problems: verified.problems, out }).toMatchObject({
      exitCode: 0,
      err: '',
      ok: true,
      problems: [],
    });
    return verified;
  }

  /** Ends all that still runs: pipelines properly, processes by force. */
  async stopAll(): Promise<void> {
    for (const child of this.#children) {
      if (!child.isOver()) child.signal('SIGKILL');
      await child.exited;
    }
    for (const step of this.#undo.splice(0).reverse()) await step();
  }

  /** Runs a step when the test ends, the last first. */
  atEnd(step: () => Promise<unknown>): void {
    this.#undo.push(step);
  }

  async close(): Promise<void> {
    await this.stopAll().catch(() => undefined);
    await this.publisher.close();
    await this.client.command({
      query: `DROP DATABASE IF EXISTS {name:Identifier}`,
      query_params: { name: this.config.clickhouse.database },
    });
    await this.client.close();
  }

  /** The end of the log, for a test that fails. */
  tail(): string {
    return [
      ...this.logLines.slice(-30),
      ...this.#children.map((child) => `process ${child.pid}: ${child.err().slice(-3_000)}`),
    ].join('\n');
  }
}
