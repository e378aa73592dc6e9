import { describe, expect, it } from 'vitest';
import { configSchema } from '../../../src/config/schema.ts';
import { createKafkaClient } from '../../../src/kafka/client/kafka-client.ts';
import { kafkajsInternals } from '../../../src/kafka/client/patch-kafkajs.ts';
import { readLedPartitions } from '../../../src/kafka/patches/read-led-partitions.ts';

/** Creating a client patches kafkajs. */
createKafkaClient(configSchema.parse({ kafka: { brokers: ['127.0.0.1:1'] } }).kafka);

function partition(partitionId: number, leader: number, partitionErrorCode = 0) {
  return { partitionId, leader, partitionErrorCode };
}

describe('metadata', () => {
  const parse = (topicErrorCode: number, partitionMetadata: readonly object[], version = 10) => {
    const { Metadata } = kafkajsInternals().requests;
    const { response } = Metadata.protocol({ version })({ topics: ['t'] });
    return response.parse({ topicMetadata: [{ topicErrorCode, topic: 't', partitionMetadata }] });
  };

  it.each([6, 10])('of a topic has its partitions, led or not, by version %s', async (version) => {
    const some = [partition(0, 1), partition(1, -1, 5), partition(2, -1, 72)];
    const { topicMetadata } = await parse(0, some, version);
    expect(topicMetadata[0].partitionMetadata).toEqual([
      partition(0, 1),
      partition(1, -1),
      partition(2, -1),
    ]);
  });

  it('fails for a topic that is not there, and for other errors of a partition that is led', async () => {
    await expect(parse(3, [])).rejects.toMatchObject({ type: 'UNKNOWN_TOPIC_OR_PARTITION' });
    const led = [partition(0, 1, 9)];
    await expect(parse(0, led)).rejects.toMatchObject({ type: 'REPLICA_NOT_AVAILABLE' });
  });
});

/** kafkajs' classes as far as they are patched; the cluster has one topic. */
function world(leaders: number[]) {
  const all = () => leaders.map((leader, id) => partition(id, leader));
  class Pool {
    metadata: {
      topicMetadata: { topic: string; partitionMetadata: ReturnType<typeof all> }[];
    } | null = null;
    metadataMaxAge = 30_000;
    metadataExpireAt: number | null = null;
    async refreshMetadata() {
      this.metadata = { topicMetadata: [{ topic: 't', partitionMetadata: all() }] };
      this.metadataExpireAt = 100_000 + this.metadataMaxAge;
    }
  }
  class Cluster {
    findTopicPartitionMetadata = all;
    findLeaderForPartitions(_: string, partitions: readonly (number | string)[]) {
      const found: Record<string, number[]> = {};
      for (const id of partitions) {
        const leader = String(leaders[Number(id)]);
        found[leader] = [...(found[leader] ?? []), Number(id)];
      }
      return found;
    }
  }
  const resolved: (readonly number[] | undefined)[] = [];
  class Offsets {
    readonly cluster = new Cluster();
    readonly memberAssignment = { t: [0, 1, 2] };
    async resolveOffsets() {
      resolved.push(this.memberAssignment.t);
    }
  }
  readLedPartitions(Pool, Cluster, Offsets);
  return { pool: new Pool(), cluster: new Cluster(), offsets: new Offsets(), resolved, leaders };
}

describe('a consumer of partitions of which one has no leader', () => {
  it('asks for its leader each second, and as before once it has one', async () => {
    const { pool, leaders } = world([1, -1, 2]);
    await pool.refreshMetadata();
    expect(pool.metadataExpireAt).toBe(101_000);
    leaders[1] = 3;
    await pool.refreshMetadata();
    expect(pool.metadataExpireAt).toBe(130_000);
  });

  it('resolves the offsets of the others, and its own once it has one', async () => {
    const { offsets, resolved, leaders } = world([1, -1, 2]);
    await offsets.resolveOffsets();
    leaders[1] = 3;
    await offsets.resolveOffsets();
    expect(resolved).toEqual([
      [0, 2],
      [0, 1, 2],
    ]);
    expect(offsets.memberAssignment.t).toEqual([0, 1, 2]);
  });

  it('finds the leaders of the others; of that one it gets the error of a broker', () => {
    const { cluster } = world([1, -1, 2]);
    expect(cluster.findLeaderForPartitions('t', [0, 2])).toEqual({ 1: [0], 2: [2] });
    const ask = () => cluster.findLeaderForPartitions('t', [0, 1]);
    expect(ask).toThrow('There is no leader of t/1');
    expect(ask).toThrow(
      expect.objectContaining({ type: 'LEADER_NOT_AVAILABLE', code: 5, retriable: true }),
    );
  });
});
