import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../src/kafka/client/cluster-admin.ts';
import { committedOffsets } from '../../../src/kafka/client/committed-offsets.ts';

type Topics = readonly { topic: string; partitions: readonly { partition: number }[] }[];

/** A cluster whose coordinator answers with a commit of each partition, but those left out. */
function clusterOf(offsets: Readonly<Record<string, string>>, asked: Topics[] = []): Cluster {
  const coordinator = {
    offsetFetch: async ({ topics }: { topics: Topics }) => {
      asked.push(topics);
      const responses = topics.map(({ topic, partitions }) => ({
        topic,
        partitions: partitions.flatMap(({ partition }) => {
          const offset = offsets[`${topic}/${partition}`];
          return offset === undefined ? [] : [{ partition, offset, metadata: `of ${offset}` }];
        }),
      }));
      return { responses };
    },
  };
  return { findGroupCoordinator: async () => coordinator } as unknown as Cluster;
}

const wanted = [
  { topic: 'a', partition: 0 },
  { topic: 'b', partition: 3 },
  { topic: 'a', partition: 7 },
];

describe('committedOffsets', () => {
  it('asks for the partitions themselves, whatever the client knows of their topics', async () => {
    const asked: Topics[] = [];
    const cluster = clusterOf({ 'a/0': '5', 'a/7': '-1', 'b/3': '-2' }, asked);
    expect(Object.fromEntries(await committedOffsets(cluster, 'g', wanted))).toEqual({
      'a/0': { offset: 5, metadata: 'of 5' },
      'a/7': { offset: undefined, metadata: '' },
      'b/3': { offset: undefined, metadata: '' },
    });
    expect(asked).toEqual([
      [
        { topic: 'a', partitions: [{ partition: 0 }, { partition: 7 }] },
        { topic: 'b', partitions: [{ partition: 3 }] },
      ],
    ]);
  });

  it('does not take a partition without an answer for one without a commit', async () => {
    const answer = committedOffsets(clusterOf({ 'a/0': '5', 'a/7': '6' }), 'g', wanted);
    await expect(answer).rejects.toThrow('did not say what group g has committed of b/3');
  });
});
