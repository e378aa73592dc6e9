import type { Admin, Kafka } from 'kafkajs';
import type { Clock } from '../../base/clock.ts';
import { brokerErrorType } from '../broker-error-type.ts';
import { rootOf } from '../client/kafka-client.ts';

/** Offsets of a partition, as the brokers report them. */
export interface PartitionLog {
  readonly lowOffset: number;
  /** Offset after the last readable record (the last stable offset). */
  readonly endOffset: number;
  /** Offset that the group has committed; undefined without a commit. */
  readonly committedOffset: number | undefined;
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
  #admin: Promise<Admin> | undefined;
  /** The brokers' cluster; '' before the first response. */
  clusterId = '';

  constructor(options: LagProbeOptions) {
    this.#options = options;
  }

  /**
   * Reads every partition of the topics, by `topic/partition`. Costs two requests, and two more per topic.
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
    this.#admin?.then((admin) => admin.disconnect()).catch(() => undefined);
    this.#admin = undefined;
  }

  async #ask(): Promise<ReadonlyMap<string, PartitionLog>> {
    const { groupId, topics } = this.#options;
    this.#admin ??= this.#connect();
    const admin = await this.#admin;
    // One after the other: kafkajs asks for commits of the partitions that it has learnt of by then.
    const bounds = await this.#boundsOfAll(admin);
    const commits = await admin.fetchOffsets({ groupId, topics: [...topics] });
    const logs = new Map<string, PartitionLog>();
    for (const [at, topic] of topics.entries()) {
      const committed = commits.find((entry) => entry.topic === topic)?.partitions;
      for (const { partition, low, high } of bounds[at] ?? []) {
        const found = committed?.find((entry) => entry.partition === partition);
        if (found === undefined) throw new Error(`no word on commits of ${topic}/${partition}`);
        const offset = Number(found.offset);
        logs.set(`${topic}/${partition}`, {
          lowOffset: Number(low),
          endOffset: Number(high),
          committedOffset: offset < 0 ? undefined : offset,
        });
      }
    }
    return logs;
  }

  async #boundsOfAll(admin: Admin) {
    const { topics } = this.#options;
    try {
      return await Promise.all(topics.map((topic) => this.#boundsOf(admin, topic)));
    } catch (error) {
      if (brokerErrorType(rootOf(error)) !== UNKNOWN_TOPIC) throw error;
      // kafkajs asks for all topics at once, so the error may have come with another one.
      const present = new Set(await admin.listTopics());
      const missing = topics.find((topic) => !present.has(topic));
      throw missing === undefined ? error : new MissingTopicError(missing);
    }
  }

  async #boundsOf(admin: Admin, topic: string) {
    try {
      return await admin.fetchTopicOffsets(topic);
    } catch (error) {
      const isMissing = brokerErrorType(error) === UNKNOWN_TOPIC;
      if (isMissing && this.#options.leavesOutMissing === true) return [];
      throw error;
    }
  }

  async #connect(): Promise<Admin> {
    const admin = this.#options.kafka.admin();
    await admin.connect();
    this.clusterId = (await admin.describeCluster()).clusterId;
    return admin;
  }
}
