import kafkajs, { type Cluster } from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { encodeMemberData, type MemberData } from '../../../src/kafka/group/member-data.ts';
import {
  otherTopics,
  subscribedRoundRobin,
} from '../../../src/kafka/group/subscribed-round-robin.ts';

const { AssignerProtocol, PartitionAssigners } = kafkajs;

const partitionCounts: Readonly<Record<string, number>> = { a: 4, b: 3, c: 1 };
const partitionsOf = (topic: string) =>
  Array.from({ length: partitionCounts[topic] ?? 0 }, (_, i) => i);
const cluster = {
  findTopicPartitionMetadata: (topic: string) =>
    partitionsOf(topic).map((partitionId) => ({ partitionId })),
} as unknown as Cluster;
const seen = async (topics: readonly string[]) =>
  new Map(topics.map((topic) => [topic, partitionsOf(topic)]));

/** Assigns as the member `by` does; members by id with their topics, and what they say. */
async function assigned(
  assigner: typeof PartitionAssigners.roundRobin,
  members: Readonly<Record<string, readonly string[]>>,
  by: string,
  data: Readonly<Record<string, MemberData>> = {},
) {
  const { assign, protocol } = assigner({ cluster } as Parameters<typeof assigner>[0]);
  const shares = await assign({
    members: Object.entries(members).map(([memberId, topics]) => ({
      memberId,
      memberMetadata:
        data[memberId] === undefined
          ? protocol({ topics: [...topics] }).metadata
          : AssignerProtocol.MemberMetadata.encode({
              ...{ version: 0, topics: [...topics] },
              userData: encodeMemberData(data[memberId]),
            }),
    })),
    topics: [...(members[by] ?? [])],
  });
  return Object.fromEntries(
    shares.map(({ memberId, memberAssignment }) => [
      memberId,
      { ...AssignerProtocol.MemberAssignment.decode(memberAssignment)?.assignment },
    ]),
  );
}

describe('subscribedRoundRobin', () => {
  const ours = subscribedRoundRobin(seen);

  it.each(['one', 'two'])(
    'gives each topic to its subscribers, whoever assigns: %s',
    async (by) => {
      expect(await assigned(ours, { one: ['a'], two: ['b'] }, by)).toEqual({
        one: { a: [0, 1, 2, 3] },
        two: { b: [0, 1, 2] },
      });
    },
  );

  it('assigns every partition once, for any subscriptions', async () => {
    const topics = Object.keys(partitionCounts);
    const subscriptions = [1, 2, 3, 4, 5, 6, 7].map((bits) =>
      topics.filter((_, i) => (bits >> i) % 2 === 1),
    );
    for (const one of subscriptions) {
      for (const two of subscriptions) {
        for (const three of subscriptions) {
          const members = { one, two, three };
          const shares = Object.entries(await assigned(ours, members, 'two'));
          const given = shares.flatMap(([memberId, share]) =>
            Object.entries(share).flatMap(([topic, partitions]) => {
              expect(members[memberId as 'one']).toContain(topic);
              return partitions.map((partition) => `${topic}/${partition}`);
            }),
          );
          const due = topics
            .filter((topic) => [one, two, three].some((list) => list.includes(topic)))
            .flatMap((topic) => partitionsOf(topic).map((partition) => `${topic}/${partition}`));
          expect(given.sort()).toEqual(due.sort());
        }
      }
    }
  });

  it('assigns as kafkajs does where all subscribe to the same, under the same name', async () => {
    const members = { c: ['a', 'b'], a: ['a', 'b'], b: ['a', 'b'] };
    expect(await assigned(ours, members, 'b')).toEqual(
      await assigned(PartitionAssigners.roundRobin, members, 'b'),
    );
    const config = { cluster } as Parameters<typeof ours>[0];
    expect(ours(config).protocol({ topics: ['a'] }).name).toBe(
      PartitionAssigners.roundRobin(config).protocol({ topics: ['a'] }).name,
    );
  });

  it('gives a topic to one database alone, and says who gets nothing of it', async () => {
    const leftOut: unknown[] = [];
    const strict = subscribedRoundRobin(seen, { onLeftOut: (ids) => leftOut.push(ids) });
    const members = { one: ['a'], two: ['a', 'b'], three: ['a'], four: ['a'] };
    const data = {
      one: { storeId: 'new', sinceMs: 2 },
      two: { storeId: 'new', sinceMs: 3 },
      three: { storeId: 'old', sinceMs: 1 },
    };
    // `four` is of a version that does not say which database it has.
    for (const by of Object.keys(members)) {
      expect(await assigned(strict, members, by, data)).toEqual({
        ...{ one: {}, two: { b: [0, 1, 2] } },
        ...{ three: { a: [1, 3] }, four: { a: [0, 2] } },
      });
    }
    expect(leftOut).toEqual(Array(4).fill(['one', 'two']));
    const disjoint = await assigned(strict, { one: ['a'], three: ['b'] }, 'one', data);
    expect(disjoint).toEqual({ one: { a: [0, 1, 2, 3] }, three: { b: [0, 1, 2] } });
    expect(leftOut).toHaveLength(4);
  });

  it('leaves out a topic that this member cannot see, and says so', async () => {
    const warned: unknown[] = [];
    const log = { warn: (fields: object, text: string) => warned.push({ ...fields, text }) };
    const admin = {
      logs: async () => {
        throw new Error('not authorized');
      },
    };
    const blind = subscribedRoundRobin((topics) =>
      otherTopics(admin, 'g', topics, log as unknown as Parameters<typeof otherTopics>[3]),
    );
    expect(await assigned(blind, { one: ['a'], two: ['b'] }, 'one')).toEqual({
      one: { a: [0, 1, 2, 3] },
      two: {},
    });
    expect(warned).toMatchObject([
      { group: 'g', topic: 'b', err: 'not authorized' },
      { group: 'g', topics: ['b'] },
    ]);
  });
});
