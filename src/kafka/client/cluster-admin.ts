import type { Admin, Kafka } from 'kafkajs';
import { invariant } from '../../base/invariant.ts';
import type { DescribingBroker } from '../patches/ask-own-topics.ts';
import type { LogBroker } from '../patches/identify-logs.ts';
import type { TopicMetadata } from '../protocol/metadata-v10.ts';

/** The used part of kafkajs' `Cluster` (src/cluster/index.js). */
export interface Cluster {
  metadata(options: { topics: readonly string[] }): Promise<{
    readonly clusterId: string | null;
    /** Without ids from a broker before Kafka 2.8. */
    readonly topicMetadata: readonly (Omit<TopicMetadata, 'topicId'> &
      Partial<Pick<TopicMetadata, 'topicId'>>)[];
  }>;
  readonly brokerPool: {
    /** Connects to a broker where none is connected. */
    findConnectedBroker(): Promise<Pick<DescribingBroker, 'describeTopics'>>;
  };
  findBroker(options: { nodeId: number }): Promise<Pick<LogBroker, 'endOfEpoch'> & Leader>;
  findGroupCoordinator(options: { groupId: string }): Promise<Coordinator>;
}

/** The used part of kafkajs' `Broker` (src/broker/index.js). */
interface Leader {
  /** @throws on an error code of the broker, also that of one partition. */
  listOffsets(request: {
    topics: readonly {
      topic: string;
      partitions: readonly { partition: number; timestamp: number }[];
    }[];
  }): Promise<{
    /** Offset -1 where no record is as late. */
    readonly responses: readonly {
      readonly partitions: readonly { readonly partition: number; readonly offset: string }[];
    }[];
  }>;
}

/** The used part of kafkajs' `Broker` (src/broker/index.js). */
interface Coordinator {
  /** @throws on an error code of the broker. */
  offsetFetch(request: {
    groupId: string;
    topics: readonly { topic: string; partitions: readonly { partition: number }[] }[];
  }): Promise<{
    /** Offset -1 for a partition without a commit. */
    readonly responses: readonly {
      readonly topic: string;
      readonly partitions: readonly {
        readonly partition: number;
        readonly offset: string;
        readonly metadata: string | null;
      }[];
    }[];
  }>;
}

export interface ClusterAdmin {
  readonly admin: Admin;
  /** The cluster behind the admin client, with its connections. */
  readonly cluster: Cluster;
}

/** Makes an admin client, and keeps the cluster that kafkajs makes for it but does not show. */
export function clusterAdminOf(kafka: Pick<Kafka, 'admin'>): ClusterAdmin {
  const key = symbolsOf(kafka).find(
    ({ description }) => description === 'private:Kafka:createCluster',
  );
  invariant(key !== undefined, "kafkajs' Kafka must have createCluster, which shows log ids");
  const create: (options: object) => Cluster = Reflect.get(kafka, key);
  let cluster: Cluster | undefined;
  const value = (options: object) => {
    cluster = create(options);
    return cluster;
  };
  const admin: Admin = kafka.admin.call(Object.create(kafka, { [key]: { value } }));
  invariant(cluster !== undefined, 'an admin client makes a cluster');
  return { admin, cluster };
}

/** Symbols of an object and of those that it inherits from: a client may be observed. */
function symbolsOf(object: object | null): symbol[] {
  if (object === null) return [];
  return [...Object.getOwnPropertySymbols(object), ...symbolsOf(Object.getPrototypeOf(object))];
}
