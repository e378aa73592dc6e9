import { isAway } from '../errors/away.ts';
import { brokerErrorType } from '../errors/broker-error.ts';
import type { PartitionMetadata } from '../protocol/metadata-v10.ts';
import type { Cluster } from './cluster-admin.ts';

/** A log holds offsets [low, high), up to the last one that can be read: none in an open transaction. */
export interface LogRange {
  readonly low: number;
  readonly high: number;
}

export interface FoundRanges {
  /** By partition. */
  readonly ranges: ReadonlyMap<number, LogRange>;
  /** The error of a leader that did not say the range of its partition; undefined where all leaders did. */
  readonly failure: unknown;
}

/** A partition has no leader that says which offsets its log has. */
export class LeaderlessError extends Error {
  /** As kafkajs types it. */
  readonly type = 'LEADER_NOT_AVAILABLE';

  constructor(topic: string, partition: number) {
    super(`${topic}/${partition} has no leader, who has its offsets`);
  }
}

/** Times that stand for offsets. */
const EARLIEST = -2;
const LATEST = -1;

/** Errors of a broker that leads a partition and cannot say its offsets now. */
const unready: ReadonlySet<string> = new Set([
  'KAFKA_STORAGE_ERROR',
  'REPLICA_NOT_AVAILABLE',
  'OFFSET_NOT_AVAILABLE',
]);

/**
 * Reads the ranges of a topic's logs. Costs two requests a leader. A partition is left out where it has no leader,
 * or a leader that does not respond or is no longer the leader: it says nothing of the others. The admin client of
 * kafkajs fails for all of them then.
 *
 * @throws where a broker refuses.
 */
export async function logRanges(
  cluster: Cluster,
  topic: string,
  partitions: readonly Led[],
): Promise<FoundRanges> {
  const failures: unknown[] = [];
  const ask = (timestamp: number) => offsetsAt(cluster, { topic, partitions, timestamp }, failures);
  const [highs, lows] = await Promise.all([ask(LATEST), ask(EARLIEST)]);
  const ranges = new Map<number, LogRange>();
  for (const [partition, high] of highs) {
    const low = lows.get(partition);
    if (low !== undefined) ranges.set(partition, { low, high });
  }
  return { ranges, failure: failures[0] };
}

/** Reads the offset of the first record with this timestamp or a later one; the end of the log without one. */
export async function firstOffsetAt(
  cluster: Cluster,
  topic: string,
  partition: Led,
  timestamp: number,
): Promise<number> {
  const { partitionId } = partition;
  for (const time of [timestamp, LATEST]) {
    const failures: unknown[] = [];
    const asked = { topic, partitions: [partition], timestamp: time };
    const offset = (await offsetsAt(cluster, asked, failures)).get(partitionId);
    if (offset === undefined) {
      throw failures[0] ?? new LeaderlessError(topic, partitionId);
    }
    if (offset >= 0) return offset;
  }
  throw new Error(`Kafka did not say which offsets ${topic}/${partitionId} has`);
}

type Led = Pick<PartitionMetadata, 'partitionId' | 'leader'>;

interface Question {
  readonly topic: string;
  readonly partitions: readonly Led[];
  readonly timestamp: number;
}

async function offsetsAt(
  cluster: Cluster,
  { topic, partitions, timestamp }: Question,
  failures: unknown[],
): Promise<Map<number, number>> {
  const byLeader = new Map<number, number[]>();
  for (const { leader, partitionId } of partitions) {
    if (leader < 0) continue;
    byLeader.set(leader, [...(byLeader.get(leader) ?? []), partitionId]);
  }
  const found = new Map<number, number>();
  const ask = async (nodeId: number, ids: readonly number[]): Promise<void> => {
    try {
      const broker = await cluster.findBroker({ nodeId });
      const asked = ids.map((partition) => ({ partition, timestamp }));
      const { responses } = await broker.listOffsets({ topics: [{ topic, partitions: asked }] });
      for (const each of responses.flatMap((response) => response.partitions)) {
        found.set(each.partition, Number(each.offset));
      }
    } catch (error) {
      const type = brokerErrorType(error);
      if (!isAway(error) && !unready.has(type ?? '')) throw error;
      // The response has an error of one of them, and kafkajs drops the rest of it.
      if (type === undefined || ids.length === 1) failures.push(error);
      else await Promise.all(ids.map((id) => ask(nodeId, [id])));
    }
  };
  await Promise.all([...byLeader].map(([leader, ids]) => ask(leader, ids)));
  return found;
}
