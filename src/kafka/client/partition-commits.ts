import { invariant } from '../../base/invariant.ts';
import type { Config } from '../../config/schema.ts';
import type { CommittedOffset } from '../../source/source.ts';
import { type ClusterAdmin, clusterAdminOf } from './cluster-admin.ts';
import { committedOffsets } from './committed-offsets.ts';
import { createKafkaClient, kafkaError } from './kafka-client.ts';

/** Reads commits of a group and ends of logs. */
export class PartitionCommits {
  readonly #both: ClusterAdmin;
  readonly #groupId: string;

  static async open(config: Config['kafka'], groupId: string): Promise<PartitionCommits> {
    const both = clusterAdminOf(createKafkaClient(config, { retries: 3 }));
    try {
      await both.admin.connect();
    } catch (error) {
      throw kafkaError(error, 'read from Kafka', config);
    }
    return new PartitionCommits(both, groupId);
  }

  private constructor(both: ClusterAdmin, groupId: string) {
    this.#both = both;
    this.#groupId = groupId;
  }

  async committed(topic: string, partition: number): Promise<CommittedOffset> {
    const commits = await committedOffsets(this.#both.cluster, this.#groupId, [
      { topic, partition },
    ]);
    const committed = commits.get(`${topic}/${partition}`);
    invariant(committed !== undefined, 'what was asked for is answered');
    return committed;
  }

  /** Returns the offset after the last record that can be read: of none in a transaction that is open. */
  async endOffset(topic: string, partition: number): Promise<number> {
    const bounds = await this.#both.admin.fetchTopicOffsets(topic);
    return Number(bounds.find((bound) => bound.partition === partition)?.high ?? -1);
  }

  close(): Promise<void> {
    return this.#both.admin.disconnect();
  }
}
