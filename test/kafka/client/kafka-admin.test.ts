// Covers src/kafka/client/cluster-admin.ts.

import { beforeEach, describe, expect, it } from 'vitest';
import { KafkaAdmin } from '../../../src/kafka/client/kafka-admin.ts';
import { clientOfCluster } from './client-of-cluster.ts';

type Topics = readonly { topic: string; partitions: readonly { partition: number }[] }[];

interface ListOffsets {
  readonly topics: readonly {
    readonly partitions: readonly { readonly partition: number; readonly timestamp: number }[];
  }[];
}

/** Commits that the coordinator responds with, by `topic/partition`. */
let commits: Readonly<Record<string, string>>;
let asked: Topics[];
/** Leaders of the partitions of topic t. */
let leaders: readonly number[];
beforeEach(() => {
  commits = {};
  asked = [];
  leaders = [1, 1];
});

const coordinator = {
  offsetFetch: async ({ topics }: { topics: Topics }) => {
    asked.push(topics);
    const responses = topics.map(({ topic, partitions }) => ({
      topic,
      partitions: partitions.flatMap(({ partition }) => {
        const offset = commits[`${topic}/${partition}`];
        return offset === undefined ? [] : [{ partition, offset, metadata: `of ${offset}` }];
      }),
    }));
    return { responses };
  },
};

const broker = {
  listOffsets: async ({ topics: [topic] }: ListOffsets) => {
    const partitions = topic?.partitions.map(({ partition, timestamp }) => {
      return { partition, offset: timestamp === -2 ? '5' : `${90 + partition}` };
    });
    return { responses: [{ partitions }] };
  },
  describeTopics: async (names: readonly string[]) => ({
    brokers: [{ nodeId: 1 }, { nodeId: 2 }],
    topicMetadata: names.map((topic) => ({
      ...{ topic, topicErrorCode: topic === 't' ? 0 : 3 },
      partitionMetadata: [1, 0].map((partitionId) => ({ partitionId, leader: 1 })),
    })),
  }),
};

const admin = new KafkaAdmin(
  clientOfCluster({
    findGroupCoordinator: async () => coordinator,
    findBroker: async () => broker,
    brokerPool: { findConnectedBroker: async () => broker },
    metadata: async ({ topics: [topic] }: { topics: readonly string[] }) => {
      if (topic !== 't') {
        throw Object.assign(new Error('unknown'), { type: 'UNKNOWN_TOPIC_OR_PARTITION' });
      }
      const partitionMetadata = leaders.map((leader, partitionId) => ({ partitionId, leader }));
      return { clusterId: 'c', topicMetadata: [{ topic, topicId: 'id', partitionMetadata }] };
    },
  }),
);

const wanted = [
  { topic: 'a', partition: 0 },
  { topic: 'b', partition: 3 },
  { topic: 'a', partition: 7 },
];

describe('the commits of a group', () => {
  it('are asked for by partition, whatever kafkajs knows of their topics', async () => {
    commits = { 'a/0': '5', 'a/7': '-1', 'b/3': '-2' };
    expect(Object.fromEntries(await admin.committed('g', wanted))).toEqual({
      'a/0': { offset: 5, metadata: 'of 5' },
      'a/7': { offset: undefined, metadata: '' },
      'b/3': { offset: undefined, metadata: '' },
    });
    expect(await admin.commits('g', wanted)).toEqual([
      { topic: 'a', partition: 0, offset: 5, metadata: 'of 5' },
    ]);
    expect(asked[0]).toEqual([
      { topic: 'a', partitions: [{ partition: 0 }, { partition: 7 }] },
      { topic: 'b', partitions: [{ partition: 3 }] },
    ]);
  });

  it('are not known where the response lacks a partition', async () => {
    commits = { 'a/0': '5', 'a/7': '6' };
    const found = admin.committed('g', wanted);
    await expect(found).rejects.toThrow('did not say what group g has committed of b/3');
  });

  it('are those of all partitions of a topic, and none where it does not exist', async () => {
    commits = { 't/0': '-1', 't/1': '6' };
    expect(await admin.commitsOf('g', 't')).toEqual([
      { topic: 't', partition: 1, offset: 6, metadata: 'of 6' },
    ]);
    expect(await admin.commitsOf('g', 'gone')).toEqual([]);
  });
});

describe('the ranges of a topic', () => {
  it('are those of all of its partitions, and none where it does not exist', async () => {
    expect(await admin.rangesOfAll('t')).toEqual([
      { partition: 0, low: 5, high: 90 },
      { partition: 1, low: 5, high: 91 },
    ]);
    expect(await admin.rangesOfAll('gone')).toEqual([]);
  });

  it('are not known while a partition has no leader', async () => {
    leaders = [1, -1];
    const type = 'LEADER_NOT_AVAILABLE';
    await expect(admin.rangesOfAll('t')).rejects.toMatchObject({
      type,
      message: expect.stringMatching(/^t\/1 has no leader/),
    });
  });

  it('end after the last record, of a partition that exists', async () => {
    leaders = [-1, 1];
    expect([await admin.endOffset('t', 1), await admin.endOffset('t', 2)]).toEqual([91, -1]);
    await expect(admin.endOffset('t', 0)).rejects.toThrow('t/0 has no leader');
  });
});

it('topics are described by name, those that exist, with their partitions in order', async () => {
  const { brokerCount, topics } = await admin.describe(['t', 'gone', 't']);
  expect(brokerCount).toBe(2);
  expect(
    [...topics].map(([name, { partitions }]) => [name, partitions.map((p) => p.partitionId)]),
  ).toEqual([['t', [0, 1]]]);
});
