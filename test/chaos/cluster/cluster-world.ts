import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import { loadConfig } from '../../../src/config/load/load-config.ts';
import type { Config } from '../../../src/config/schema.ts';
import { clusterAdminOf } from '../../../src/kafka/client/cluster-admin.ts';
import { KafkaAdmin } from '../../../src/kafka/client/kafka-admin.ts';
import { createKafkaClient } from '../../../src/kafka/client/kafka-client.ts';
import { ensureTopics } from '../../../src/kafka/client/kafka-topics.ts';
import {
  type ClickHouseServer,
  startClickHouse,
} from '../../../src/local/clickhouse/clickhouse-server.ts';
import { type ClickHouseClient, openClickHouse } from '../../../src/sink/client/clickhouse.ts';
import { migrate } from '../../../src/sink/migrate/migrate.ts';
import { KafkaCluster } from '../../e2e/kit/kafka-cluster.ts';
import { poll } from '../../e2e/kit/poll.ts';
import { MemberFleet } from '../member-fleet.ts';
import { RotatedToken } from './rotated-token.ts';

const { ConfigResourceTypes } = kafkajs;

export const TOPIC = 'cluster';
export const CLIENT_ID = 'tailmark-cluster';
export const PARTITIONS = 12;
/** How long brokers know a login. */
const SESSION_MS = 9_000;

export interface ClusterWorldOptions {
  readonly dir: string;
  readonly signal: AbortSignal;
}

/** Three brokers, a ClickHouse, and ingesters that log in by tokens for 9 s each. */
export class ClusterWorld {
  readonly cluster: KafkaCluster;
  readonly fleet: MemberFleet;
  readonly token: RotatedToken;
  /** Past the logins. */
  readonly config: Config;
  readonly env: Readonly<Record<string, string>>;
  readonly client: ClickHouseClient;
  readonly #signal: AbortSignal;
  readonly #clickhouse: ClickHouseServer;

  private constructor(
    { dir, signal }: ClusterWorldOptions,
    cluster: KafkaCluster,
    clickhouse: ClickHouseServer,
  ) {
    this.#signal = signal;
    this.cluster = cluster;
    this.#clickhouse = clickhouse;
    this.token = new RotatedToken(join(dir, 'token'));
    this.env = {
      TAILMARK_KAFKA_BROKERS: cluster.brokers.join(','),
      TAILMARK_KAFKA_TOPICS: TOPIC,
      TAILMARK_KAFKA_GROUP_ID: TOPIC,
      TAILMARK_KAFKA_CLIENT_ID: CLIENT_ID,
      TAILMARK_INGEST_FLUSH_INTERVAL: '1s',
      TAILMARK_CLICKHOUSE_URL: clickhouse.url,
      TAILMARK_HTTP_LISTEN: '127.0.0.1:0',
    };
    this.config = loadConfig({ env: this.env, readFile: () => '' }).config;
    this.client = openClickHouse(this.config.clickhouse);
    const login = {
      TAILMARK_KAFKA_BROKERS: cluster.saslBrokers.join(','),
      TAILMARK_KAFKA_SASL_MECHANISM: 'oauthbearer',
      TAILMARK_KAFKA_SASL_TOKEN_FILE: this.token.path,
    };
    this.fleet = new MemberFleet({ env: { ...this.env, ...login }, signal });
  }

  static async open(options: ClusterWorldOptions): Promise<ClusterWorld> {
    const reauth = 'listener.name.sasl_plaintext.oauthbearer.connections.max.reauth.ms';
    const cluster = await KafkaCluster.start({
      ownController: true,
      settings: { [reauth]: SESSION_MS },
    });
    const dataDir = join(options.dir, 'clickhouse');
    mkdirSync(dataDir, { recursive: true });
    const onProgress = () => undefined;
    const clickhouse = await startClickHouse({ dataDir, database: 'tailmark', onProgress });
    const world = new ClusterWorld(options, cluster, clickhouse);
    try {
      const settings = { 'min.insync.replicas': '2' };
      const spec = { topic: TOPIC, partitions: PARTITIONS, settings };
      await ensureTopics(world.config.kafka, [spec]);
      await migrate(world.config.clickhouse);
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  /** Waits for a fault's own length, never for a state. */
  async pass(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#signal });
  }

  until<T>(what: string, ask: () => T | undefined | Promise<T | undefined>, deadlineMs = 180_000) {
    const asking = () => {
      this.#signal.throwIfAborted();
      return ask();
    };
    return poll(what, asking, { deadlineMs, seen: () => this.fleet.tail() });
  }

  /** Events that the ledger accounts for. */
  async consumed(): Promise<number> {
    const result = await this.client.query({
      query: 'SELECT sum(consumed) AS n FROM flushes',
      format: 'JSONEachRow',
    });
    const [row] = await result.json<{ n: string }>();
    return Number(row?.n ?? 0);
  }

  async withAdmin<T>(use: (admin: KafkaAdmin) => Promise<T>): Promise<T> {
    const admin = new KafkaAdmin(createKafkaClient(this.config.kafka, { retries: 20 }));
    try {
      await admin.client.connect();
      return await use(admin);
    } finally {
      await admin.close();
    }
  }

  /** Records in the topic. */
  records(): Promise<number> {
    return this.withAdmin(async (admin) => {
      const ranges = await admin.rangesOfAll(TOPIC);
      return ranges.reduce((sum, { high }) => sum + high, 0);
    });
  }

  /** The broker that coordinates the group. */
  async coordinator(): Promise<number> {
    const client = createKafkaClient(this.config.kafka, { retries: 20 });
    const { admin, cluster } = clusterAdminOf(client);
    try {
      await admin.connect();
      const found: unknown = await cluster.findGroupCoordinator({ groupId: TOPIC });
      return Number(Reflect.get(found as object, 'nodeId'));
    } finally {
      await admin.disconnect().catch(() => undefined);
    }
  }

  /** Gives a partition other replicas, and the topic as many as must have a record. */
  async assign(partition: number, replicas: readonly number[], inSync: number): Promise<void> {
    await this.withAdmin(async (admin) => {
      const configEntries = [{ name: 'min.insync.replicas', value: String(inSync) }];
      await admin.client.alterConfigs({
        validateOnly: false,
        resources: [{ type: ConfigResourceTypes.TOPIC, name: TOPIC, configEntries }],
      });
      const partitionAssignment = [{ partition, replicas: [...replicas] }];
      await admin.client.alterPartitionReassignments({
        topics: [{ topic: TOPIC, partitionAssignment }],
      });
      await this.until(
        `the replicas of partition ${partition} are ${replicas.join(', ')}`,
        async () => {
          const { topics } = await admin.describe([TOPIC]);
          const found = topics.get(TOPIC)?.partitions[partition];
          const isDone =
            `${found?.replicas}` === `${replicas}` && found?.isr.length === replicas.length;
          return isDone ? true : undefined;
        },
      );
    });
  }

  /** Resolves when every replica of the topics is in sync again. */
  async inSync(): Promise<void> {
    await this.until('all replicas are in sync', () =>
      this.withAdmin(async (admin) => {
        const { topics } = await admin.describe([TOPIC, '__consumer_offsets']);
        const partitions = [...topics.values()].flatMap((topic) => topic.partitions);
        const isInSync = partitions.every((each) => each.isr.length === each.replicas.length);
        return isInSync && partitions.length > PARTITIONS ? true : undefined;
      }).catch(() => undefined),
    );
  }

  async close(): Promise<void> {
    this.token.stop();
    await this.fleet.close();
    await this.client.close();
    await Promise.allSettled([this.#clickhouse.stop(), this.cluster.stop()]);
  }
}
