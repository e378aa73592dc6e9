import { createRequire } from 'node:module';
import type { Admin, Consumer, ConsumerConfig, Kafka } from 'kafkajs';
import { patchKafkajs } from '../../src/kafka/client/patch-kafkajs.ts';
import { decodeFetchResponse } from '../../src/kafka/protocol/fetch-response.ts';
import { RecordBatchReader } from '../../src/kafka/protocol/record-batch-reader.ts';
import { encodeLog, encodeResponse } from './record-batch.ts';

// kafkajs' own consumer, with all its loops, on a simulated cluster, so its wedges are the real ones.
const load = createRequire(import.meta.url);
const createConsumer: (options: object) => Consumer = load('kafkajs/src/consumer');
const { createLogger } = load('kafkajs/src/loggers') as {
  createLogger: (options: object) => object;
};
const { createErrorFromCode } = load('kafkajs/src/protocol/error') as {
  createErrorFromCode: (code: number) => Error;
};
const { KafkaJSConnectionError } = load('kafkajs/src/errors') as {
  KafkaJSConnectionError: new (message: string, broker: object) => Error;
};
const { MemberAssignment } = load('kafkajs/src/consumer/assignerProtocol') as {
  MemberAssignment: { encode(options: object): Buffer };
};

patchKafkajs();

export const topic = 't';
const reader = new RecordBatchReader(1 << 20);

/** A broker's response by its error code; kafkajs knows codes up to 88. */
export const brokerErrors = {
  timedOut: 7,
  notLeader: 6,
  coordinatorNotAvailable: 15,
  unknownMember: 25,
  rebalanceInProgress: 27,
  unknown: 129,
} as const;

export function refuse(code: number): never {
  throw createErrorFromCode(code);
}

/** No broker listens here. */
export function away(): never {
  throw new KafkaJSConnectionError('connect ECONNREFUSED', { broker: 'b:9092' });
}

export const never = new Promise<never>(() => undefined);

export interface FakeRecord {
  readonly offset: number;
  readonly isControlRecord: boolean;
  readonly leaderEpoch: number;
}

/** Action of a test on a request before its response: wait, refuse, or nothing. */
type Meddle = () => Promise<void> | void;

interface ListOffsetsRequest {
  readonly topics: readonly {
    readonly partitions: readonly { readonly partition: number; readonly timestamp: number }[];
  }[];
}

interface FetchRequest {
  readonly maxWaitTime: number;
  readonly topics: readonly {
    readonly partitions: readonly { readonly partition: number; readonly fetchOffset: string }[];
  }[];
}

/** Without it a consumer could send requests endlessly within one moment. */
function roundTrip(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}

/** One topic on a cluster whose group has one member. Times are those of the (faked) timers. */
export class FakeKafka {
  /** Records of each partition; its length is the number of partitions. */
  readonly logs: FakeRecord[][];
  /** The node that leads each partition. */
  readonly leaders: number[];
  nodes: number[] = [1];
  /** Partitions assigned by the next join. */
  assigned: number[];
  readonly committed = new Map<number, number>();
  /** Every requested commit, including refused ones: `partition@offset`. */
  readonly commitsAsked: string[] = [];
  heartbeats = 0;
  joins = 0;
  sessionMs = 10_000;
  /** Records before the requested offset at the start of a response: batches are sent whole. */
  overlap = 0;
  onJoin: Meddle = () => undefined;
  onHeartbeat: Meddle = () => undefined;
  onCommit: Meddle = () => undefined;
  onFetch: (nodeId: number) => Promise<void> | void = () => undefined;
  topicId = 'id';
  /** Epoch of the leader that writes. */
  leaderEpoch = 0;
  /** Where the log was truncated, if it was. */
  remains: number | undefined;
  /** Action on the source's requests; `onProbe` acts on the watchdog's. */
  onAdmin: Meddle = () => undefined;
  onProbe: Meddle = () => undefined;
  #memberId = '';
  #generation = 0;
  #seenMs = 0;

  constructor(partitions = 1) {
    this.logs = Array.from({ length: partitions }, () => []);
    this.leaders = this.logs.map(() => 1);
    this.assigned = this.logs.map((_, partition) => partition);
  }

  append(partition: number, count: number, isControlRecord = false): void {
    const log = this.logs[partition] ?? [];
    for (let i = 0; i < count; i++)
      log.push({ offset: log.length, isControlRecord, leaderEpoch: this.leaderEpoch });
  }

  /** Client of a source. */
  client(): Pick<Kafka, 'admin' | 'consumer'> {
    return {
      ...this.#adminClient(() => this.onAdmin()),
      consumer: (config) =>
        createConsumer({
          ...(config as ConsumerConfig),
          retry: {
            initialRetryTime: 100,
            maxRetryTime: 5_000,
            retries: 5,
            factor: 0,
            multiplier: 2,
          },
          cluster: this.#cluster(),
          logger: createLogger({ level: 0, logCreator: () => () => undefined }),
          isolationLevel: 1,
        }),
    };
  }

  /** Client of the watchdog. */
  probeClient(): Pick<Kafka, 'admin'> {
    return this.#adminClient(() => this.onProbe());
  }

  #adminClient(meddle: Meddle): Pick<Kafka, 'admin'> {
    const admin = () => this.#admin();
    return {
      [Symbol('private:Kafka:createCluster')]: () => this.#logCluster(meddle),
      admin(this: Record<symbol, () => object>) {
        for (const key of Object.getOwnPropertySymbols(this)) this[key]?.();
        return admin();
      },
    };
  }

  #admin(): Admin {
    const admin = {
      connect: async () => undefined,
      disconnect: async () => undefined,
      describeCluster: async () => ({ clusterId: 'c' }),
    };
    return admin as unknown as Admin;
  }

  /** The cluster of the admin client, which says which log a topic is. */
  #logCluster(meddle: Meddle): object {
    return {
      brokerPool: {
        findConnectedBroker: async () => ({ describeTopics: () => this.#describe(meddle) }),
      },
      metadata: async () => {
        await meddle();
        const partitionMetadata = this.leaders.map((leader, partitionId) => ({
          partitionId,
          leader,
        }));
        return {
          clusterId: 'c',
          topicMetadata: [{ topic, topicId: this.topicId, partitionMetadata }],
        };
      },
      findBroker: async () => ({
        listOffsets: async ({ topics: [asked] }: ListOffsetsRequest) => {
          await meddle();
          const partitions = asked?.partitions.map(({ partition, timestamp }) => {
            const end = this.logs[partition]?.length ?? 0;
            return { partition, offset: String(timestamp === -2 ? 0 : end) };
          });
          return { responses: [{ partitions }] };
        },
        endOfEpoch: async ({ partition }: { partition: number }) => ({
          errorCode: 0,
          leaderEpoch: 0,
          endOffset: this.remains ?? this.logs[partition]?.length,
        }),
      }),
      findGroupCoordinator: async () => ({
        offsetFetch: async () => {
          await meddle();
          return { responses: [this.#commits()] };
        },
      }),
    };
  }

  async #describe(meddle: Meddle): Promise<object> {
    await meddle();
    const partitionMetadata = this.logs.map((_, partitionId) => {
      return { partitionErrorCode: 0, partitionId, leader: 1, replicas: [1] };
    });
    const topicMetadata = [{ topicErrorCode: 0, topic, partitionMetadata }];
    return { brokers: this.nodes.map((nodeId) => ({ nodeId })), topicMetadata };
  }

  #commits() {
    const partitions = this.logs.map((_, partition) => ({
      partition,
      offset: String(this.committed.get(partition) ?? -1),
      metadata: '',
    }));
    return { topic, partitions };
  }

  #cluster(): object {
    const metadata = () =>
      this.logs.map((_, partitionId) => ({
        partitionId,
        leader: this.leaders[partitionId],
        offlineReplicas: [],
      }));
    const committed = {};
    return {
      connect: async () => undefined,
      disconnect: async () => undefined,
      refreshMetadata: async () => undefined,
      refreshMetadataIfNecessary: async () => undefined,
      addMultipleTargetTopics: async () => undefined,
      removeBroker: () => undefined,
      getNodeIds: () => this.nodes.map(String),
      findTopicPartitionMetadata: metadata,
      findGroupCoordinator: async () => this.#coordinator(),
      brokerPool: {
        findConnectedBroker: async () => ({
          findGroupCoordinator: async () => ({ coordinator: { nodeId: 1 } }),
        }),
      },
      findBroker: async ({ nodeId }: { nodeId: string }) => ({
        ...this.#coordinator(),
        fetch: (request: FetchRequest) => this.#fetch(Number(nodeId), request),
      }),
      committedOffsets: () => committed,
      defaultOffset: () => -2,
      fetchTopicsOffset: async () => [
        { topic, partitions: this.logs.map((_, partition) => ({ partition, offset: '0' })) },
      ],
    };
  }

  #coordinator(): object {
    const heard = (memberId: string) => {
      if (memberId !== this.#memberId || Date.now() - this.#seenMs > this.sessionMs) {
        refuse(brokerErrors.unknownMember);
      }
      this.#seenMs = Date.now();
    };
    return {
      isConnected: () => true,
      joinGroup: async () => {
        await roundTrip();
        await this.onJoin();
        this.joins++;
        this.#generation++;
        this.#memberId = `member-${this.joins}`;
        this.#seenMs = Date.now();
        const memberId = this.#memberId;
        return {
          generationId: this.#generation,
          leaderId: 'another',
          memberId,
          members: [],
          groupProtocol: 'RoundRobinAssigner',
        };
      },
      syncGroup: async () => {
        const assignment = this.assigned.length === 0 ? {} : { [topic]: this.assigned };
        return { memberAssignment: MemberAssignment.encode({ version: 0, assignment }) };
      },
      heartbeat: async ({ memberId }: { memberId: string }) => {
        await roundTrip();
        await this.onHeartbeat();
        heard(memberId);
        this.heartbeats++;
      },
      leaveGroup: async () => undefined,
      offsetFetch: async () => ({
        responses: [
          {
            topic,
            partitions: this.assigned.map((partition) => ({
              partition,
              offset: String(this.committed.get(partition) ?? -1),
            })),
          },
        ],
      }),
      offsetCommit: async (request: {
        memberId: string;
        topics: { partitions: { partition: number; offset: string }[] }[];
      }) => {
        const asked = request.topics.flatMap(({ partitions }) => partitions);
        for (const { partition, offset } of asked) this.commitsAsked.push(`${partition}@${offset}`);
        await this.onCommit();
        heard(request.memberId);
        for (const { partition, offset } of asked) this.committed.set(partition, Number(offset));
      },
    };
  }

  async #fetch(nodeId: number, { maxWaitTime, topics }: FetchRequest): Promise<object> {
    await roundTrip();
    await this.onFetch(nodeId);
    const partitions = topics.flatMap((asked) =>
      asked.partitions.map(({ partition, fetchOffset }) => {
        const log = this.logs[partition] ?? [];
        const asked = Number(fetchOffset);
        const from = asked < log.length ? Math.max(0, asked - this.overlap) : asked;
        const bytes = encodeLog(
          log.slice(from, asked + 10).map(({ offset, isControlRecord, leaderEpoch }) => ({
            offset,
            leaderEpoch,
            value: Buffer.from('{}'),
            ...(isControlRecord ? { producerId: 1, isMarker: true } : {}),
          })),
        );
        return { partition, highWatermark: log.length, bytes };
      }),
    );
    if (partitions.every(({ bytes }) => bytes.length === 0)) {
      await new Promise((resolve) => setTimeout(resolve, maxWaitTime));
    }
    const bytes = encodeResponse(partitions, { topic });
    return decodeFetchResponse(bytes, 11, reader, () => bytes.fill(0xee));
  }
}
