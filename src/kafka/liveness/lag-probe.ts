import type { Admin, Kafka } from 'kafkajs';
import type { Clock } from '../../base/clock.ts';

/** A partition as the brokers tell it. */
export interface PartitionLog {
  readonly lowOffset: number;
  /** Offset after the last record that may be read (the last stable one). */
  readonly endOffset: number;
  /** What the group has committed; undefined for nothing. */
  readonly committedOffset: number | undefined;
}

export interface LagProbeOptions {
  readonly kafka: Pick<Kafka, 'admin'>;
  readonly topics: readonly string[];
  readonly groupId: string;
  readonly clock: Clock;
  /** A look that takes longer has failed. */
  readonly timeoutMs: number;
  /** Whether a topic that is not there is left out; a look fails by it otherwise. @default {false} */
  readonly leavesOutMissing?: boolean;
}

/** Kafka's name of the error. */
const missing = 'UNKNOWN_TOPIC_OR_PARTITION';

/**
 * Asks the brokers where partitions end and what is committed, apart from the consumer: by a client
 * of its own, which is made anew after each failure, so that what ails one ails no other.
 */
export class LagProbe {
  readonly #options: LagProbeOptions;
  #admin: Promise<Admin> | undefined;

  constructor(options: LagProbeOptions) {
    this.#options = options;
  }

  /**
   * Every partition of the topics, by `topic/partition`. Two requests and two more a topic.
   *
   * @throws when the brokers do not answer in time, or not all of it.
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

  /** Never waits: what does not answer would not say goodbye either. */
  close(): void {
    this.#admin?.then((admin) => admin.disconnect()).catch(() => undefined);
    this.#admin = undefined;
  }

  async #ask(): Promise<ReadonlyMap<string, PartitionLog>> {
    const { groupId, topics } = this.#options;
    this.#admin ??= this.#connect();
    const admin = await this.#admin;
    const [commits, ...bounds] = await Promise.all([
      admin.fetchOffsets({ groupId, topics: [...topics] }),
      ...topics.map((topic) => this.#boundsOf(admin, topic)),
    ]);
    const logs = new Map<string, PartitionLog>();
    for (const [at, topic] of topics.entries()) {
      const committed = commits.find((entry) => entry.topic === topic)?.partitions;
      for (const { partition, low, high } of bounds[at] ?? []) {
        const found = committed?.find((entry) => entry.partition === partition);
        const offset = Number(found?.offset ?? -1);
        logs.set(`${topic}/${partition}`, {
          lowOffset: Number(low),
          endOffset: Number(high),
          committedOffset: offset < 0 ? undefined : offset,
        });
      }
    }
    return logs;
  }

  async #boundsOf(admin: Admin, topic: string) {
    try {
      return await admin.fetchTopicOffsets(topic);
    } catch (error) {
      const isMissing = error instanceof Error && 'type' in error && error.type === missing;
      if (isMissing && this.#options.leavesOutMissing === true) return [];
      throw error;
    }
  }

  async #connect(): Promise<Admin> {
    const admin = this.#options.kafka.admin();
    await admin.connect();
    return admin;
  }
}
