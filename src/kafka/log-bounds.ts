import type { Config } from '../config/schema.ts';
import { brokerErrorType } from './broker-error-type.ts';
import { type ClusterAdmin, clusterAdminOf } from './client/cluster-admin.ts';
import { committedOffsets } from './client/committed-offsets.ts';
import { createKafkaClient } from './client/kafka-client.ts';
import { logIdsOf } from './partition-lookup.ts';

/** A partition's log holds offsets [low, high). */
export interface Bounds {
  readonly partition: number;
  readonly low: number;
  readonly high: number;
}

/** Looks up logs and their bounds; each call asks the brokers. */
export class LogBounds {
  readonly #both: ClusterAdmin;

  static async open(config: Config['kafka']): Promise<LogBounds> {
    const both = clusterAdminOf(createKafkaClient(config, { retries: 3 }));
    await both.admin.connect();
    return new LogBounds(both);
  }

  private constructor(both: ClusterAdmin) {
    this.#both = both;
  }

  /** Ids of the topics' logs (log-id.ts), by topic. */
  ids(topics: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return logIdsOf(this.#both, topics);
  }

  /** Bounds of a topic's partitions; none of a topic that does not exist. */
  async of(topic: string): Promise<Bounds[]> {
    try {
      const found = await this.#both.admin.fetchTopicOffsets(topic);
      return found.map(({ partition, low, high }) => ({
        partition,
        low: Number(low),
        high: Number(high),
      }));
    } catch (error) {
      if (brokerErrorType(error) === 'UNKNOWN_TOPIC_OR_PARTITION') return [];
      throw error;
    }
  }

  /** Offsets that a group has committed, by partition. */
  async committed(groupId: string, topic: string): Promise<ReadonlyMap<number, number>> {
    const partitions = (await this.of(topic)).map(({ partition }) => ({ topic, partition }));
    const commits = await committedOffsets(this.#both.cluster, groupId, partitions);
    const found = new Map<number, number>();
    for (const { partition } of partitions) {
      const offset = commits.get(`${topic}/${partition}`)?.offset;
      if (offset !== undefined) found.set(partition, offset);
    }
    return found;
  }

  /** Ids of the cluster's groups that this user may see. */
  async groupIds(): Promise<string[]> {
    const { groups } = await this.#both.admin.listGroups();
    return groups.map(({ groupId }) => groupId);
  }

  close(): Promise<void> {
    return this.#both.admin.disconnect();
  }
}
