import type { Admin } from 'kafkajs';
import type { Config } from '../../config/schema.ts';
import type { CommittedOffset } from '../../source/source.ts';
import { createKafkaClient, kafkaError } from './kafka-client.ts';

/** Reads commits of a group and ends of logs. */
export class PartitionCommits {
  readonly #admin: Admin;
  readonly #groupId: string;

  static async open(config: Config['kafka'], groupId: string): Promise<PartitionCommits> {
    const admin = createKafkaClient(config, { retries: 3 }).admin();
    try {
      await admin.connect();
    } catch (error) {
      throw kafkaError(error, 'read from Kafka', config);
    }
    return new PartitionCommits(admin, groupId);
  }

  private constructor(admin: Admin, groupId: string) {
    this.#admin = admin;
    this.#groupId = groupId;
  }

  async committed(topic: string, partition: number): Promise<CommittedOffset> {
    const [found] = await this.#admin.fetchOffsets({ groupId: this.#groupId, topics: [topic] });
    const commit = found?.partitions.find((entry) => entry.partition === partition);
    // -1 means no commit; kafkajs commits -2 where an offset was out of range.
    const offset = Number(commit?.offset ?? -1);
    return offset < 0
      ? { offset: undefined, metadata: '' }
      : { offset, metadata: commit?.metadata ?? '' };
  }

  /** Returns the offset after the last record that can be read: of none in a transaction that is open. */
  async endOffset(topic: string, partition: number): Promise<number> {
    const bounds = await this.#admin.fetchTopicOffsets(topic);
    return Number(bounds.find((bound) => bound.partition === partition)?.high ?? -1);
  }

  close(): Promise<void> {
    return this.#admin.disconnect();
  }
}
