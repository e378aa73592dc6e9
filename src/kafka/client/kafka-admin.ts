import type { Admin, Kafka } from 'kafkajs';
import type { Config } from '../../config/schema.ts';
import { logIdOf } from '../../source/log-id.ts';
import type { CommittedOffset, EpochEnd } from '../../source/source.ts';
import { brokerErrorType } from '../errors/broker-error.ts';
import { loginsOf } from '../login/logins.ts';
import type { PartitionMetadata } from '../protocol/metadata-v10.ts';
import { type Cluster, clusterAdminOf } from './cluster-admin.ts';
import { createKafkaClient, kafkaError } from './kafka-client.ts';
import {
  type FoundRanges,
  firstOffsetAt,
  LeaderlessError,
  type LogRange,
  logRanges,
} from './log-offsets.ts';

export interface PartitionName {
  readonly topic: string;
  readonly partition: number;
}

/** A group's commit of a partition. */
export interface FoundCommit extends PartitionName {
  readonly offset: number;
  readonly metadata: string;
}

/** The log of a topic. */
export interface TopicLog {
  /** See log-id.ts. */
  readonly logId: string;
  readonly partitions: readonly PartitionMetadata[];
}

export interface PartitionRange extends LogRange {
  readonly partition: number;
}

/** A topic as the cluster has it. */
export interface DescribedTopic {
  readonly topic: string;
  /** By partition. */
  readonly partitions: readonly PartitionMetadata[];
}

export interface DescribedTopics {
  readonly brokerCount: number;
  /** Topics that exist, by name. */
  readonly topics: ReadonlyMap<string, DescribedTopic>;
}

/** A partition without a commit. kafkajs commits -2 for an offset out of range. */
const none: CommittedOffset = { offset: undefined, metadata: '' };

/** Error of a topic that exists. A topic without a leader may have it as well as its partitions. */
const LEADER_NOT_AVAILABLE = 5;

/**
 * Asks the brokers about topics, their logs and groups. It names the topics that it asks about, as those of
 * others may be broken or many. It asks each time: kafkajs' own client answers from a copy of the metadata.
 */
export class KafkaAdmin {
  /** kafkajs' own client: connects, and makes and changes topics. */
  readonly client: Admin;
  readonly #cluster: Cluster;

  constructor(kafka: Pick<Kafka, 'admin'>) {
    const { admin, cluster } = clusterAdminOf(kafka);
    this.client = admin;
    this.#cluster = cluster;
  }

  /**
   * Opens an admin client that is used for some time.
   *
   * @param doing completes the sentence "Cannot …" of an error.
   * @throws OperatorError when Kafka cannot be reached.
   */
  static async open(config: Config['kafka'], doing: string): Promise<KafkaAdmin> {
    const admin = new KafkaAdmin(createKafkaClient(config, { retries: 3 }));
    try {
      await loginsOf(config).connect(admin.client);
      return admin;
    } catch (error) {
      await admin.close();
      throw kafkaError(error, doing, config);
    }
  }

  /**
   * Runs an action with an admin client. Short limits report soon a port that is no broker's.
   *
   * @throws OperatorError when Kafka cannot be reached, or the action fails.
   */
  static async use<T>(
    config: Config['kafka'],
    doing: string,
    action: (admin: KafkaAdmin) => Promise<T>,
    kafka: Pick<Kafka, 'admin'> = createKafkaClient(config, {
      retries: 3,
      requestTimeoutMs: 10_000,
    }),
  ): Promise<T> {
    const admin = new KafkaAdmin(kafka);
    try {
      await loginsOf(config).connect(admin.client);
      return await action(admin);
    } catch (error) {
      throw kafkaError(error, doing, config);
    } finally {
      await admin.close();
    }
  }

  async close(): Promise<void> {
    await this.client.disconnect().catch(() => undefined);
  }

  /**
   * Describes topics by name. A topic that this user may not see counts as missing, as in a list of topics.
   * Costs one request.
   */
  async describe(topics: readonly string[]): Promise<DescribedTopics> {
    const broker = await this.#cluster.brokerPool.findConnectedBroker();
    const { brokers, topicMetadata } = await broker.describeTopics([...new Set(topics)]);
    const present = topicMetadata.filter(
      ({ topicErrorCode }) => topicErrorCode === 0 || topicErrorCode === LEADER_NOT_AVAILABLE,
    );
    const described = present.map(({ topic, partitionMetadata }): [string, DescribedTopic] => [
      topic,
      { topic, partitions: [...partitionMetadata].sort((a, b) => a.partitionId - b.partitionId) },
    ]);
    return { brokerCount: brokers.length, topics: new Map(described) };
  }

  /** Looks up the logs of topics, by topic. Costs one request. @throws where a topic does not exist. */
  async logs(topics: readonly string[]): Promise<Map<string, TopicLog>> {
    const { clusterId, topicMetadata } = await this.#cluster.metadata({ topics });
    return new Map(
      topicMetadata.map(({ topic, topicId = '', partitionMetadata: partitions }) => [
        topic,
        { logId: logIdOf(clusterId ?? '', topicId), partitions },
      ]),
    );
  }

  /** Reads the ranges of the logs of some partitions (log-offsets.ts). */
  ranges(topic: string, partitions: readonly PartitionMetadata[]): Promise<FoundRanges> {
    return logRanges(this.#cluster, topic, partitions);
  }

  /**
   * Reads the ranges of all partitions of a topic; [] for one that does not exist.
   *
   * @throws where a partition has no leader, or its leader does not say them.
   */
  async rangesOfAll(topic: string): Promise<PartitionRange[]> {
    try {
      const partitions = await this.#partitionsOf(topic);
      const { ranges, failure } = await this.ranges(topic, partitions);
      return partitions.map(({ partitionId: partition }) => {
        const range = ranges.get(partition);
        if (range === undefined) throw failure ?? new LeaderlessError(topic, partition);
        return { partition, ...range };
      });
    } catch (error) {
      if (brokerErrorType(error) === 'UNKNOWN_TOPIC_OR_PARTITION') return [];
      throw error;
    }
  }

  /**
   * Reads the offset after the last record that can be read: of none in a transaction that is open. -1 for a
   * partition that does not exist.
   */
  async endOffset(topic: string, partition: number): Promise<number> {
    const all = await this.#partitionsOf(topic);
    const asked = all.filter(({ partitionId }) => partitionId === partition);
    if (asked.length === 0) return -1;
    const { ranges, failure } = await this.ranges(topic, asked);
    const range = ranges.get(partition);
    if (range === undefined) throw failure ?? new LeaderlessError(topic, partition);
    return range.high;
  }

  /** Reads the offset of the first record with this timestamp or a later one; the end of the log without one. */
  firstOffsetAt(topic: string, partition: PartitionMetadata, timestampMs: number): Promise<number> {
    return firstOffsetAt(this.#cluster, topic, partition, timestampMs);
  }

  /** Reads where a leader epoch ends in a log; undefined where its leader cannot tell. */
  async endOfEpoch(
    topic: string,
    { partitionId: partition, leader: nodeId }: PartitionMetadata,
    leaderEpoch: number,
  ): Promise<EpochEnd | undefined> {
    if (leaderEpoch < 0) return undefined;
    const broker = await this.#cluster.findBroker({ nodeId });
    const { errorCode, ...end } = await broker.endOfEpoch({ topic, partition, leaderEpoch });
    if (errorCode !== 0)
      throw new Error(`OffsetForLeaderEpoch failed with error code ${errorCode}`);
    return end.endOffset < 0 ? undefined : end;
  }

  /**
   * Reads the commits of a group for some partitions, by `topic/partition`. Costs two requests.
   *
   * The admin client of kafkajs asks for the partitions that its copy of the metadata has. A partition that was
   * added since, or whose topic a request at the same time left out of the copy, would look like one without a
   * commit, and its pending chunk would be made again.
   *
   * @throws Error where the response lacks one of the partitions.
   */
  async committed(
    groupId: string,
    partitions: readonly PartitionName[],
  ): Promise<Map<string, CommittedOffset>> {
    const names = [...new Set(partitions.map(({ topic }) => topic))];
    const topics = names.map((topic) => ({
      topic,
      partitions: partitions
        .filter((each) => each.topic === topic)
        .map(({ partition }) => ({ partition })),
    }));
    const coordinator = await this.#cluster.findGroupCoordinator({ groupId });
    const { responses } = await coordinator.offsetFetch({ groupId, topics });
    const found = new Map<string, CommittedOffset>();
    for (const { topic, partitions: entries } of responses) {
      for (const { partition, offset, metadata } of entries) {
        const committed = { offset: Number(offset), metadata: metadata ?? '' };
        found.set(`${topic}/${partition}`, committed.offset < 0 ? none : committed);
      }
    }
    const missing = partitions.find(({ topic, partition }) => !found.has(`${topic}/${partition}`));
    if (missing === undefined) return found;
    const { topic, partition } = missing;
    throw new Error(
      `Kafka did not say what group ${groupId} has committed of ${topic}/${partition}`,
    );
  }

  /** Reads the commits of a group for some partitions: those that it has. */
  async commits(groupId: string, partitions: readonly PartitionName[]): Promise<FoundCommit[]> {
    const committed = await this.committed(groupId, partitions);
    return partitions.flatMap(({ topic, partition }) => {
      const { offset, metadata } = committed.get(`${topic}/${partition}`) ?? none;
      return offset === undefined ? [] : [{ topic, partition, offset, metadata }];
    });
  }

  /** Reads the commit of a group for one partition. */
  async commitOf(groupId: string, partition: PartitionName): Promise<CommittedOffset> {
    const committed = await this.committed(groupId, [partition]);
    return committed.get(`${partition.topic}/${partition.partition}`) ?? none;
  }

  /** Reads the commits of a group for a topic; [] where the topic does not exist. */
  async commitsOf(groupId: string, topic: string): Promise<FoundCommit[]> {
    const { topics } = await this.describe([topic]);
    return topics.size === 0 ? [] : this.commits(groupId, partitionsOf(topics));
  }

  /** Ids of the cluster's groups that this user may see. */
  async groupIds(): Promise<string[]> {
    const { groups } = await this.client.listGroups();
    return groups.map(({ groupId }) => groupId);
  }

  async #partitionsOf(topic: string): Promise<readonly PartitionMetadata[]> {
    return (await this.logs([topic])).get(topic)?.partitions ?? [];
  }
}

/** Names of all partitions of topics. */
export function partitionsOf(
  topics: ReadonlyMap<string, Pick<DescribedTopic, 'partitions'>>,
): PartitionName[] {
  return [...topics].flatMap(([topic, { partitions }]) =>
    partitions.map(({ partitionId: partition }) => ({ topic, partition })),
  );
}
