import type { Kafka } from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { configSchema } from '../../../src/config/schema.ts';
import { commitsOfOtherGroups, findGroup } from '../../../src/kafka/group/find-group.ts';
import { clientOfCluster } from '../client/client-of-cluster.ts';

const { kafka: config } = configSchema.parse({
  kafka: { brokers: ['127.0.0.1:1'], group_id: 'ours', topics: ['a', 'b'] },
});

interface OffsetFetch {
  readonly groupId: string;
  readonly topics: readonly { topic: string; partitions: readonly { partition: number }[] }[];
}

/** Topics of two partitions each. */
const topics = ['a', 'b'];
const partitionMetadata = [0, 1].map((partitionId) => ({ partitionId, leader: 1 }));

/** Commits by `group topic/partition`. */
type Commits = Readonly<Record<string, number>>;

/**
 * kafkajs' own admin client on a cluster. Its copy of the metadata lacks topic b: a request for it has joined an
 * earlier one on its way, as where a broker is away.
 */
function clientOf(commits: Commits, asked: string[] = []): Pick<Kafka, 'admin'> {
  const broker = {
    nodeId: 1,
    offsetFetch: async (request: OffsetFetch) => {
      asked.push(request.groupId);
      const responses = request.topics.map(({ topic, partitions }) => ({
        topic,
        partitions: partitions.map(({ partition }) => {
          const offset = commits[`${request.groupId} ${topic}/${partition}`];
          return { partition, offset: String(offset ?? -1), metadata: offset ? `m${offset}` : '' };
        }),
      }));
      return { responses };
    },
    describeGroups: async () => ({ groups: [{ state: 'Empty', members: [] }] }),
    listGroups: async () => ({
      groups: ['ours', 'theirs', 'idle'].map((groupId) => ({ groupId, protocolType: 'consumer' })),
    }),
    describeTopics: async (names: readonly string[]) => ({
      brokers: [{ nodeId: 1 }],
      topicMetadata: names.map((topic) => ({
        ...{ topic, topicErrorCode: topics.includes(topic) ? 0 : 3, partitionMetadata },
      })),
    }),
  };
  const cluster = {
    connect: async () => undefined,
    disconnect: async () => undefined,
    addTargetTopic: async () => undefined,
    refreshMetadata: async () => undefined,
    refreshMetadataIfNecessary: async () => undefined,
    findTopicPartitionMetadata: (topic: string) => (topic === 'a' ? partitionMetadata : []),
    metadata: async (request: { topics: readonly string[] }) => ({
      clusterId: 'c',
      topicMetadata: request.topics.map((topic) => ({
        ...{ topic, topicId: `id-${topic}`, partitionMetadata },
      })),
    }),
    findGroupCoordinator: async () => broker,
    findBroker: async () => broker,
    brokerPool: { brokers: { 1: broker }, findConnectedBroker: async () => broker },
  };
  return clientOfCluster(cluster);
}

describe('a group that is looked up before it is joined', () => {
  it('has its commits of a topic that kafkajs has no metadata of', async () => {
    const commits = { 'ours a/0': 5, 'ours a/1': 6, 'ours b/1': 7, 'theirs b/0': 8 };
    const found = await findGroup(config, clientOf(commits));
    expect(found.commits).toEqual([
      { topic: 'a', partition: 0, offset: 5, metadata: 'm5' },
      { topic: 'a', partition: 1, offset: 6, metadata: 'm6' },
      { topic: 'b', partition: 1, offset: 7, metadata: 'm7' },
    ]);
    expect([...found.logIds]).toEqual([
      ['a', 'c/id-a'],
      ['b', 'c/id-b'],
    ]);
  });
});

describe('other groups', () => {
  it('have their commits of a topic that kafkajs has no metadata of', async () => {
    const commits = { 'ours b/0': 5, 'theirs b/1': 8 };
    const asked: string[] = [];
    const found = await commitsOfOtherGroups(config, 'ours', topics, clientOf(commits, asked));
    expect(found).toEqual([
      { groupId: 'theirs', topic: 'b', partition: 1, offset: 8, metadata: 'm8' },
    ]);
    expect(asked.sort()).toEqual(['idle', 'theirs']);
  });

  it('have none of a topic that does not exist, and those of the others', async () => {
    const commits = { 'theirs a/0': 8 };
    const found = await commitsOfOtherGroups(config, 'ours', ['a', 'gone'], clientOf(commits));
    expect(found.map(({ groupId, topic }) => [groupId, topic])).toEqual([['theirs', 'a']]);
  });
});
