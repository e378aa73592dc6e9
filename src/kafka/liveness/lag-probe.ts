import type { Kafka } from 'kafkajs';
import type { Clock } from '../../base/clock.ts';
import { KafkaAdmin } from '../client/kafka-admin.ts';
import { rootOf } from '../client/kafka-client.ts';
import type { LogRange } from '../client/log-offsets.ts';
import { brokerErrorType } from '../errors/broker-error.ts';

/** Offsets of a partition, as the brokers report them. */
export interface PartitionLog {
  readonly lowOffset: number;
  /** Offset after the last readable record (the last stable offset). */
  readonly endOffset: number;
  /** Offset that the group has committed; undefined without a commit. */
  readonly committedOffset: number | undefined;
}

interface NamedRange extends LogRange {
  readonly topic: string;
  readonly partition: number;
}

export interface LagProbeOptions {
  readonly kafka: Pick<Kafka, 'admin'>;
  readonly topics: readonly string[];
  readonly groupId: string;
  readonly clock: Clock;
  /** A probe that takes longer fails. */
  readonly timeoutMs: number;
  /** Omits a missing topic; otherwise a missing topic fails the probe. @default {false} */
  readonly leavesOutMissing?: boolean;
  /** Omits a partition without a leader; otherwise it fails the probe. @default {false} */
  readonly leavesOutLeaderless?: boolean;
}

const UNKNOWN_TOPIC = 'UNKNOWN_TOPIC_OR_PARTITION';

/** The brokers respond, and do not know a topic. */
export class MissingTopicError extends Error {
  readonly topic: string;

  constructor(topic: string) {
    super(`topic ${topic} does not exist`);
    this.topic = topic;
  }
}

/**
 * Asks the brokers for end offsets and committed offsets, with a client apart from the consumer's. The client
 * is replaced after each failure, so that both fail independently.
 */
export class LagProbe {
  readonly #options: LagProbeOptions;
  #admin: Promise<KafkaAdmin> | undefined;
  /** The brokers' cluster; '' before the first response. */
  clusterId = '';
  /** Partitions that nobody led at the last probe, as `topic/partition`. */
  leaderless: ReadonlySet<string> = new Set();

  constructor(options: LagProbeOptions) {
    this.#options = options;
  }

  /**
   * Reads every partition of the topics, by `topic/partition`. Costs two requests, and a few per topic and leader.
   *
   * @throws MissingTopicError, or when the brokers do not respond in time, or only in part.
   */
  async probe(): Promise<ReadonlyMap<string, PartitionLog>> {
    const { clock, timeoutMs } = this.#options;
    const isOver = new AbortController();
    const late = clock.sleep(timeoutMs, isOver.signal).then(() => {
      throw new Error(`no response within ${timeoutMs / 1000} s`);
    });
    late.catch(() => undefined);
    try {
      return await Promise.race([this.#ask(), late]);
    } catch (error) {
      this.close();
      throw error;
    } finally {
      isOver.abort();
    }
  }

  /** Does not wait, because a broker that does not respond does not confirm a disconnect either. */
  close(): void {
    this.#admin?.then((admin) => admin.close()).catch(() => undefined);
    this.#admin = undefined;
  }

  async #ask(): Promise<ReadonlyMap<string, PartitionLog>> {
    const { groupId } = this.#options;
    this.#admin ??= this.#connect();
    const admin = await this.#admin;
    const found = await this.#rangesOfAll(admin);
    const partitions = [...found.values()];
    const commits = await admin.committed(groupId, partitions);
    return new Map(
      [...found].map(([name, { low, high }]) => {
        const committedOffset = commits.get(name)?.offset;
        return [name, { lowOffset: low, endOffset: high, committedOffset }];
      }),
    );
  }

  async #rangesOfAll(admin: KafkaAdmin): Promise<Map<string, NamedRange>> {
    const { topics } = this.#options;
    const found = new Map<string, NamedRange>();
    const leaderless = new Set<string>();
    try {
      await Promise.all(topics.map((topic) => this.#addRanges(admin, topic, found, leaderless)));
    } catch (error) {
      if (brokerErrorType(rootOf(error)) !== UNKNOWN_TOPIC) throw error;
      // kafkajs asks for all of them at once, so the error may have come with another one.
      const described = await admin.describe(topics);
      const missing = topics.find((topic) => !described.topics.has(topic));
      throw missing === undefined ? error : new MissingTopicError(missing);
    }
    this.leaderless = leaderless;
    const [first] = leaderless;
    if (first !== undefined && this.#options.leavesOutLeaderless !== true) {
      throw new Error(`${first} has no leader`);
    }
    return found;
  }

  async #addRanges(
    admin: KafkaAdmin,
    topic: string,
    found: Map<string, NamedRange>,
    leaderless: Set<string>,
  ): Promise<void> {
    try {
      const { partitions: all = [] } = (await admin.logs([topic])).get(topic) ?? {};
      const { ranges, failure } = await admin.ranges(topic, all);
      // An election, or more: the watchdog tells by how long it takes.
      if (failure !== undefined) throw failure;
      for (const { partitionId: partition, leader } of all) {
        const range = ranges.get(partition);
        if (leader < 0) leaderless.add(`${topic}/${partition}`);
        if (range !== undefined) found.set(`${topic}/${partition}`, { topic, partition, ...range });
      }
    } catch (error) {
      const isMissing = brokerErrorType(error) === UNKNOWN_TOPIC;
      if (!isMissing || this.#options.leavesOutMissing !== true) throw error;
    }
  }

  async #connect(): Promise<KafkaAdmin> {
    const admin = new KafkaAdmin(this.#options.kafka);
    await admin.client.connect();
    this.clusterId = (await admin.client.describeCluster()).clusterId;
    return admin;
  }
}
