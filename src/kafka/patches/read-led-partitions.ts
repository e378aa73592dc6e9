import kafkajs from 'kafkajs';
import type { KafkajsExchange } from '../protocol/kafkajs-coders.ts';
import { type Patchable, patchOnce } from './patch-once.ts';

const { KafkaJSProtocolError } = kafkajs;

/** Interval at which brokers are asked for the leader of a partition that has none. */
const SEARCH_INTERVAL_MS = 1_000;

interface PartitionMetadata {
  readonly partitionErrorCode: number;
  readonly partitionId: number;
  /** -1 for none. */
  readonly leader: number;
}

interface Metadata {
  readonly topicMetadata: readonly {
    readonly topic: string;
    readonly partitionMetadata: readonly PartitionMetadata[];
  }[];
}

interface Definition {
  readonly versions: readonly string[];
  readonly protocol: (options: {
    version: number;
  }) => (request: unknown) => KafkajsExchange<Metadata>;
}

/** The used part of kafkajs' `Broker` (src/broker/index.js). */
interface Broker {
  metadata(topics: readonly string[]): Promise<Metadata>;
}

/** The used part of kafkajs' `BrokerPool` (src/cluster/brokerPool.js). */
interface BrokerPool {
  readonly metadata: Metadata | null;
  readonly metadataMaxAge: number;
  /** By the wall clock. */
  metadataExpireAt: number | null;
  refreshMetadata(topics: unknown): Promise<void>;
}

/** The used part of kafkajs' `Cluster` (src/cluster/index.js). */
interface Cluster {
  findTopicPartitionMetadata(topic: string): readonly PartitionMetadata[];
  findLeaderForPartitions(
    topic: string,
    partitions: readonly (number | string)[],
  ): Readonly<Record<string, readonly number[]>>;
}

/** The used part of kafkajs' `OffsetManager` (src/consumer/offsetManager/index.js). */
interface OffsetManager {
  readonly cluster: Pick<Cluster, 'findTopicPartitionMetadata'>;
  readonly memberAssignment: Readonly<Record<string, readonly number[]>>;
  resolveOffsets(): Promise<void>;
}

/**
 * Makes the response about a topic the response about its partitions. A partition without a leader has a
 * separate error, which kafkajs 2.2.4 throws for all topics of the request.
 */
export function acceptLeaderless(
  broker: Patchable<Broker>,
  { requests }: { requests: { Metadata: Definition } },
): void {
  patchOnce(broker, 'acceptLeaderless', ['metadata'], ({ metadata }) => {
    requests.Metadata = byPartition(requests.Metadata);
    return { metadata };
  });
}

function byPartition(before: Definition): Definition {
  return {
    versions: before.versions,
    protocol: (options) => {
      const exchangeOf = before.protocol(options);
      return (asked) => {
        const { request, response } = exchangeOf(asked);
        const parse = (metadata: Metadata) => response.parse(withoutLeaderErrors(metadata));
        return { request, response: { ...response, parse } };
      };
    },
  };
}

/**
 * Lets a consumer read the partitions that have a leader while another one has none: its replicas are on brokers
 * that are down. kafkajs 2.2.4 then reads none of them, from the next time it asks for metadata on. Which broker
 * leads the partition is asked for until one does. A reader of that partition gets the error, as before.
 */
export function readLedPartitions(
  pool: Patchable<BrokerPool>,
  cluster: Patchable<Cluster>,
  offsets: Patchable<OffsetManager>,
): void {
  patchOnce(pool, 'readLedPartitions', ['refreshMetadata'], ({ refreshMetadata }) => ({
    async refreshMetadata(this: BrokerPool, topics: unknown) {
      await refreshMetadata.call(this, topics);
      const all = this.metadata?.topicMetadata.flatMap((each) => each.partitionMetadata) ?? [];
      if (this.metadataExpireAt === null || all.every(isLed)) return;
      this.metadataExpireAt -= Math.max(0, this.metadataMaxAge - SEARCH_INTERVAL_MS);
    },
  }));
  patchOnce(cluster, 'readLedPartitions', ['findLeaderForPartitions'], (before) => ({
    findLeaderForPartitions(
      this: Cluster,
      topic: string,
      partitions: readonly (number | string)[],
    ) {
      const found = before.findLeaderForPartitions.call(this, topic, partitions);
      const without = Object.entries(found).find(([leader]) => Number(leader) < 0);
      if (without !== undefined) throw leaderless(topic, without[1]);
      return found;
    },
  }));
  patchOnce(offsets, 'readLedPartitions', ['resolveOffsets'], ({ resolveOffsets }) => ({
    resolveOffsets(this: OffsetManager) {
      const led = Object.entries(this.memberAssignment).map(([topic, partitions]) => {
        const without = this.cluster.findTopicPartitionMetadata(topic).filter((one) => !isLed(one));
        const ids = new Set(without.map(({ partitionId }) => partitionId));
        return [topic, partitions.filter((partition) => !ids.has(partition))];
      });
      // The others are resolved before they are fetched: once they have a leader.
      const value = Object.fromEntries(led);
      return resolveOffsets.call(Object.create(this, { memberAssignment: { value } }));
    },
  }));
}

function isLed({ leader }: PartitionMetadata): boolean {
  return leader >= 0;
}

function withoutLeaderErrors(metadata: Metadata): Metadata {
  const topicMetadata = metadata.topicMetadata.map((topic) => ({
    ...topic,
    partitionMetadata: topic.partitionMetadata.map((partition) =>
      isLed(partition) ? partition : { ...partition, partitionErrorCode: 0 },
    ),
  }));
  return { ...metadata, topicMetadata };
}

/** The broker's error, as kafkajs makes it: kafkajs retries it. */
function leaderless(topic: string, partitions: readonly number[]): Error {
  const message = `There is no leader of ${partitions.map((id) => `${topic}/${id}`).join(', ')}`;
  const error = { type: 'LEADER_NOT_AVAILABLE', code: 5, retriable: true };
  return new KafkaJSProtocolError(Object.assign(new Error(message), error));
}
