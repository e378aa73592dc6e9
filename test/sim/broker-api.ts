import { decodeFetchResponse } from '../../src/kafka/protocol/fetch-response.ts';
import { RecordBatchReader } from '../../src/kafka/protocol/record-batch-reader.ts';
import { encodeLog, encodeResponse, type PartitionResponse } from '../kafka/record-batch.ts';
import type { Endpoint } from './endpoint.ts';
import type { KafkajsSandbox } from './kafkajs-sandbox.ts';
import type { LogEntry, PartitionLog } from './partition-log.ts';
import type { SimKafka } from './sim-kafka.ts';

interface TopicPartitions<P> {
  readonly topic: string;
  readonly partitions: readonly P[];
}
type Given<T> = { value: T } | { error: Error };

interface FetchRequest {
  readonly topics: readonly TopicPartitions<{ partition: number; fetchOffset: string }>[];
}

interface AnsweredTopic {
  readonly topicName: string;
  readonly partitions: readonly PartitionResponse[];
}

const reader = new RecordBatchReader(1 << 20);

/** Requests to a broker as kafkajs makes them, with the simulated responses. */
export abstract class BrokerApi {
  abstract readonly kafka: SimKafka;
  protected abstract get sandbox(): KafkajsSandbox;
  abstract readonly endpoint: Endpoint;
  protected abstract call<T>(
    name: string,
    effect: (answer: (given: Given<T>) => void) => void,
  ): Promise<T>;

  metadata(topics: readonly string[] = []) {
    return this.call('metadata', (answer) => {
      const { kafka } = this;
      if (topics.some((topic) => kafka.logsOf(topic).length === 0)) {
        answer(this.#refuse('UNKNOWN_TOPIC_OR_PARTITION'));
        return;
      }
      answer({
        value: {
          brokers: kafka.nodes.map(({ nodeId, host, port }) => ({ nodeId, host, port })),
          clusterId: kafka.clusterId,
          controllerId: 1,
          topicMetadata: topics.map((topic) => ({
            topic,
            topicId: kafka.topicIdOf(topic),
            topicErrorCode: 0,
            partitionMetadata: kafka.logsOf(topic).map(({ partition }) => ({
              partitionErrorCode: 0,
              partitionId: partition,
              leader: kafka.leaderOf(partition).nodeId,
              replicas: [1],
              isr: [1],
              offlineReplicas: [],
            })),
          })),
        },
      });
    });
  }

  describeTopics(topics: readonly string[]) {
    return this.call('describe topics', (answer) => {
      const { kafka } = this;
      const topicMetadata = topics.map((topic) => ({
        topic,
        topicErrorCode: kafka.logsOf(topic).length === 0 ? 3 : 0,
        partitionMetadata: kafka.logsOf(topic).map(({ partition }) => ({
          partitionErrorCode: 0,
          partitionId: partition,
          leader: kafka.leaderOf(partition).nodeId,
          replicas: [1],
        })),
      }));
      answer({ value: { brokers: kafka.nodes, topicMetadata } });
    });
  }

  findGroupCoordinator({ groupId }: { groupId: string }) {
    return this.call('find coordinator', (answer) => {
      const { nodeId, host, port } = this.kafka.coordinatorOf(groupId);
      answer({ value: { coordinator: { nodeId, host, port } } });
    });
  }

  joinGroup(request: {
    groupId: string;
    sessionTimeout: number;
    rebalanceTimeout: number;
    memberId?: string;
    groupProtocols: readonly { name: string; metadata: Buffer }[];
  }) {
    return this.call('join', (answer) => {
      this.kafka.group(request.groupId).join(
        {
          memberId: request.memberId ?? '',
          clientId: this.endpoint.owner.name,
          sessionTimeoutMs: request.sessionTimeout,
          rebalanceTimeoutMs: request.rebalanceTimeout,
          protocols: request.groupProtocols,
        },
        (given) => answer('value' in given ? given : this.#refuse(given.error)),
      );
    });
  }

  syncGroup(request: {
    groupId: string;
    generationId: number;
    memberId: string;
    groupAssignment: readonly { memberId: string; memberAssignment: Buffer }[];
  }) {
    return this.call<{ memberAssignment: Buffer }>('sync', (answer) => {
      const assignments = new Map(
        request.groupAssignment.map(({ memberId, memberAssignment }) => [
          memberId,
          memberAssignment,
        ]),
      );
      this.kafka
        .group(request.groupId)
        .sync(request.memberId, request.generationId, assignments, (given) =>
          answer(
            'value' in given
              ? { value: { memberAssignment: given.value } }
              : this.#refuse(given.error),
          ),
        );
    });
  }

  heartbeat(request: { groupId: string; groupGenerationId: number; memberId: string }) {
    return this.call<object>('heartbeat', (answer) => {
      const { groupId, memberId, groupGenerationId } = request;
      const refusal = this.kafka.group(groupId).heartbeat(memberId, groupGenerationId);
      answer(refusal === undefined ? { value: {} } : this.#refuse(refusal));
    });
  }

  leaveGroup({ groupId, memberId }: { groupId: string; memberId: string }) {
    return this.call<object>('leave', (answer) => {
      const refusal = this.kafka.group(groupId).leave(memberId);
      answer(refusal === undefined ? { value: {} } : this.#refuse(refusal));
    });
  }

  offsetCommit(request: {
    groupId: string;
    groupGenerationId: number;
    memberId: string;
    topics: readonly TopicPartitions<{
      partition: number;
      offset: string | number;
      metadata?: string | null;
    }>[];
  }) {
    const group = this.kafka.group(request.groupId);
    const what = request.topics
      .flatMap(({ topic, partitions }) =>
        partitions.map(({ partition, offset, metadata }) => {
          const end = /"endOffset":(\d+)/.exec(metadata ?? '')?.[1];
          return `${topic}/${partition} ${offset}${end === undefined ? '' : `..${end}`}`;
        }),
      )
      .join(', ');
    const order = group.nextCommit();
    return this.call<object>(`commit ${what}`, (answer) => {
      const refusal = group.refusal(request.memberId, request.groupGenerationId);
      if (refusal !== undefined) {
        answer(this.#refuse(refusal));
        return;
      }
      if (this.#hasUnknown(request.topics)) {
        answer(this.#refuse('UNKNOWN_TOPIC_OR_PARTITION'));
        return;
      }
      for (const { topic, partitions } of request.topics) {
        for (const { partition, offset, metadata } of partitions) {
          const log = this.kafka.logOf(topic, partition);
          if (log === undefined) continue;
          if (!group.begins.has(log) && Number(offset) >= 0) {
            group.begins.set(log, Number(offset));
            group.beganTo.set(log, log.high);
          }
          group.commit(log, { offset: String(offset), metadata: metadata ?? '', order });
        }
      }
      answer({ value: {} });
    });
  }

  offsetFetch(request: {
    groupId: string;
    topics: readonly TopicPartitions<{ partition: number }>[];
  }) {
    return this.call('offset fetch', (answer) => {
      const { commits } = this.kafka.group(request.groupId);
      const responses = request.topics.map(({ topic, partitions }) => ({
        topic,
        partitions: partitions.map(({ partition }) => {
          const commit = commits.get(`${topic}/${partition}`);
          const { offset = '-1', metadata = '' } = commit ?? {};
          return { partition, offset, metadata, errorCode: 0 };
        }),
      }));
      answer({ value: { responses } });
    });
  }

  listOffsets(request: {
    topics: readonly TopicPartitions<{ partition: number; timestamp: number | string }>[];
  }) {
    return this.call('list offsets', (answer) => {
      if (this.#hasUnknown(request.topics)) {
        answer(this.#refuse('UNKNOWN_TOPIC_OR_PARTITION'));
        return;
      }
      const responses = request.topics.map(({ topic, partitions }) => ({
        topic,
        partitions: partitions.map(({ partition, timestamp }) => {
          const log = this.kafka.logOf(topic, partition);
          if (log === undefined) return { partition, offset: '-1', timestamp: '-1' };
          const ms = Number(timestamp);
          if (ms === -1) return { partition, offset: String(log.high), timestamp: '-1' };
          if (ms === -2) return { partition, offset: String(log.low), timestamp: '-1' };
          const found = log.offsetAt(ms);
          return { partition, offset: String(found.offset), timestamp: String(found.timestampMs) };
        }),
      }));
      answer({ value: { responses } });
    });
  }

  endOfEpoch(request: { topic: string; partition: number; leaderEpoch: number }) {
    return this.call('end of epoch', (answer) => {
      const { topic, partition, leaderEpoch } = request;
      const log = this.kafka.logOf(topic, partition);
      if (log === undefined) answer(this.#refuse('UNKNOWN_TOPIC_OR_PARTITION'));
      else answer({ value: { errorCode: 0, ...log.endOfEpoch(leaderEpoch) } });
    });
  }

  /** The response crosses the network as bytes, which the production code decodes. */
  async fetch(request: FetchRequest) {
    const answered = await this.#fetchBytes(request);
    const responses: object[] = [];
    for (const { topicName, partitions } of answered) {
      const bytes = encodeResponse(partitions, { topic: topicName });
      // Later reads of the buffer see the bytes that the next response would have left there.
      const spoil = () => bytes.fill(0xee);
      const { responses: decoded } = await decodeFetchResponse(bytes, 11, reader, spoil);
      responses.push(...decoded);
    }
    return { responses };
  }

  #fetchBytes(request: FetchRequest): Promise<readonly AnsweredTopic[]> {
    const { kafka } = this;
    const { scheduler } = this.endpoint.world;
    return this.call<readonly AnsweredTopic[]>('fetch', (answer) => {
      for (const { topic, partitions } of request.topics) {
        for (const { partition, fetchOffset } of partitions) {
          const log = kafka.logOf(topic, partition);
          const reader = this.endpoint.owner.name;
          if (log !== undefined) kafka.beforeFetch(log, Number(fetchOffset), reader);
        }
      }
      const first = this.#fetched(request.topics);
      if (first !== undefined) {
        answer(first);
        return;
      }
      const finish = () => {
        timer.isCancelled = true;
        forget();
        answer(this.#fetched(request.topics) ?? { value: [] });
      };
      const timer = scheduler.at(kafka.idleFetchMs, undefined, finish);
      const forget = kafka.onWrite(() => {
        if (this.#fetched(request.topics) !== undefined) finish();
      });
    });
  }

  /** Records to read; undefined where there are none. */
  #fetched(topics: FetchRequest['topics']): Given<readonly AnsweredTopic[]> | undefined {
    const { random, faults } = this.endpoint.world;
    const responses: AnsweredTopic[] = [];
    let hasSome = false;
    for (const { topic, partitions } of topics) {
      const answers: PartitionResponse[] = [];
      for (const { partition, fetchOffset } of partitions) {
        const log = this.kafka.logOf(topic, partition);
        if (log === undefined) return this.#refuse('UNKNOWN_TOPIC_OR_PARTITION');
        const offset = Number(fetchOffset);
        const entries = log.read(offset, random.between(1, 30));
        if (entries === undefined) {
          const { KafkaJSOffsetOutOfRange: OutOfRange } = this.sandbox.errors;
          const cause = this.sandbox.protocolError('OFFSET_OUT_OF_RANGE');
          return {
            error: OutOfRange === undefined ? cause : new OutOfRange(cause, { topic, partition }),
          };
        }
        if (entries.length > 0) hasSome = true;
        const first = entries[0];
        const before =
          first !== undefined && first.offset > log.low && faults.strikes('overlapping_fetch')
            ? log.entriesBefore(first.offset, random.between(1, 8))
            : [];
        answers.push(partitionAnswer(log, offset, [...before, ...entries]));
      }
      responses.push({ topicName: topic, partitions: answers });
    }
    return hasSome ? { value: responses } : undefined;
  }

  /** True where a topic is gone (KafkaApis refuses commits and offset requests for it). */
  #hasUnknown(topics: readonly TopicPartitions<{ partition: number }>[]): boolean {
    return topics.some(({ topic, partitions }) =>
      partitions.some(({ partition }) => this.kafka.logOf(topic, partition) === undefined),
    );
  }

  #refuse(type: string): { error: Error } {
    return { error: this.sandbox.protocolError(type) };
  }
}

/** A partition's part of a fetch. */
function partitionAnswer(
  log: PartitionLog,
  fetchOffset: number,
  entries: readonly LogEntry[],
): PartitionResponse {
  const started = new Map<number, number>();
  const aborted = new Map<number, number>();
  for (const { kind, producerId, offset } of entries) {
    if (kind === 'aborted' && !started.has(producerId)) started.set(producerId, offset);
    if (kind !== 'marker') continue;
    const first = started.get(producerId);
    started.delete(producerId);
    // A broker lists the transactions that end at or after the requested offset, in the order of their ends.
    if (first !== undefined && offset >= fetchOffset) aborted.set(producerId, first);
  }
  for (const [producerId, first] of started) aborted.set(producerId, first);
  return {
    partition: log.partition,
    highWatermark: log.high,
    aborted: [...aborted].map(([producerId, firstOffset]) => ({
      producerId: BigInt(producerId),
      firstOffset,
    })),
    bytes: encodeLog(
      entries.map(({ offset, timestampMs, value, kind, producerId, leaderEpoch }) => ({
        offset,
        leaderEpoch,
        timestampMs,
        value,
        ...(kind === 'data' ? {} : { producerId }),
        isMarker: kind === 'marker',
      })),
    ),
  };
}
