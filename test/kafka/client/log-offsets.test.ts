import { beforeEach, describe, expect, it } from 'vitest';
import type { Cluster } from '../../../src/kafka/client/cluster-admin.ts';
import { firstOffsetAt, logRanges } from '../../../src/kafka/client/log-offsets.ts';

function refusal(type: string): Error {
  return Object.assign(new Error(type), { type });
}

function away(): Error {
  return Object.assign(new Error('connect ECONNREFUSED'), { name: 'KafkaJSConnectionError' });
}

/** Errors of brokers, by node or by `partition`. */
let errors: Record<string, Error>;
let asked: string[];
beforeEach(() => {
  errors = {};
  asked = [];
});

interface Request {
  readonly topics: readonly {
    readonly partitions: readonly { readonly partition: number; readonly timestamp: number }[];
  }[];
}

const cluster = {
  findBroker: async ({ nodeId }: { nodeId: number }) => {
    const error = errors[`node ${nodeId}`];
    if (error !== undefined) throw error;
    return {
      listOffsets: async ({ topics: [topic] }: Request) => {
        const partitions = topic?.partitions ?? [];
        asked.push(`${nodeId}: ${partitions.map((each) => each.partition).join(' ')}`);
        const failed = partitions.find(({ partition }) => errors[partition] !== undefined);
        if (failed !== undefined) throw errors[failed.partition];
        const offsetOf = (timestamp: number) => ({ [-2]: 5, [-1]: 90 })[timestamp] ?? -1;
        const found = partitions.map(({ partition, timestamp }) => {
          return { partition, offset: String(offsetOf(timestamp)) };
        });
        return { responses: [{ partitions: found }] };
      },
    };
  },
} as unknown as Cluster;

const led = (...leaders: number[]) =>
  leaders.map((leader, partitionId) => ({ leader, partitionId }));

describe('the ranges of logs', () => {
  it('are asked for with two requests a leader', async () => {
    const { ranges, failure } = await logRanges(cluster, 't', led(1, 2, 1));
    expect([...ranges]).toHaveLength(3);
    expect(ranges.get(2)).toEqual({ low: 5, high: 90 });
    expect(failure).toBeUndefined();
    expect(asked.sort()).toEqual(['1: 0 2', '1: 0 2', '2: 1', '2: 1']);
  });

  it('lack a partition without a leader, and that is no failure', async () => {
    const { ranges, failure } = await logRanges(cluster, 't', led(1, -1));
    expect([[...ranges.keys()], failure]).toEqual([[0], undefined]);
  });

  it('lack those of a leader that is away', async () => {
    errors = { 'node 2': away() };
    const { ranges, failure } = await logRanges(cluster, 't', led(1, 2));
    expect([[...ranges.keys()], failure]).toEqual([[0], errors['node 2']]);
  });

  it.each(['NOT_LEADER_FOR_PARTITION', 'KAFKA_STORAGE_ERROR'])(
    'lack the one partition of a broker that says %s of it',
    async (type) => {
      errors = { 1: refusal(type) };
      const { ranges, failure } = await logRanges(cluster, 't', led(1, 1, 1));
      expect([[...ranges.keys()].sort(), failure]).toEqual([[0, 2], errors[1]]);
    },
  );

  it('fail where a broker refuses', async () => {
    errors = { 1: refusal('TOPIC_AUTHORIZATION_FAILED') };
    await expect(logRanges(cluster, 't', led(1, 1))).rejects.toBe(errors[1]);
  });
});

describe('the first offset after a time', () => {
  it('is the end of the log where no record is as late', async () => {
    const [partition] = led(1);
    if (partition === undefined) throw new Error('there is one');
    expect(await firstOffsetAt(cluster, 't', partition, 1_700)).toBe(90);
    expect(await firstOffsetAt(cluster, 't', partition, -2)).toBe(5);
  });

  it('is not known of a partition without a leader', async () => {
    const partition = { leader: -1, partitionId: 3 };
    const found = firstOffsetAt(cluster, 't', partition, 1_700);
    await expect(found).rejects.toThrow('t/3 has no leader');
  });
});
