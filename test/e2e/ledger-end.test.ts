import { describe, expect, it } from 'vitest';
import type { Chunk } from '../../src/sink/chunks/chunk.ts';
import { ClickHouseChunkStore } from '../../src/sink/chunks/chunk-store.ts';
import { readProgress } from '../../src/sink/windows/window-progress.ts';
import { useStack } from '../containers/stack.ts';
import { chunk } from '../ingest/flush-world.ts';
import { Rig } from './kit/rig.ts';

const stack = useStack();

const row = (logId: string, startOffset: number, endOffset: number, rest: Partial<Chunk> = {}) => ({
  ...chunk,
  ...{ logId, startOffset, endOffset, watermarkMs: endOffset * 1_000 },
  ...rest,
});

describe('the ends of a ledger', () => {
  it('are those of each log, in any order of storing', async () => {
    const rig = await Rig.open({ stack, name: 'ledger-end' });
    try {
      const store = new ClickHouseChunkStore(rig.client, 'test');
      const rows = [
        row('c/a', 9, 20, { leaderEpoch: 4 }),
        row('c/a', 0, 9, { leaderEpoch: 2 }),
        row('c/b', 0, 4, { leaderEpoch: 0 }),
        row('c/a#2', 14, 30, { leaderEpoch: 7 }),
        row('d/a', 100, 101, { leaderEpoch: -1 }),
        row('c/b', 0, 99, { topic: 'other' }),
        row('c/b', 0, 98, { partition: 1 }),
        row('c/b', 0, 97, { groupId: 'other' }),
      ];
      for (const each of rows) await store.record(each, 0);
      expect(await store.ledgerEnds('g', 't', 0)).toEqual([
        { logId: 'c/a', endOffset: 20, watermarkMs: 20_000, leaderEpoch: 4 },
        { logId: 'c/a#2', endOffset: 30, watermarkMs: 30_000, leaderEpoch: 7 },
        { logId: 'c/b', endOffset: 4, watermarkMs: 4_000, leaderEpoch: 0 },
        { logId: 'd/a', endOffset: 101, watermarkMs: 101_000, leaderEpoch: -1 },
      ]);
      // Of a cluster, the log that was stored last; the other cluster's partition does not count.
      const reached = async (clusterId: string) =>
        (await readProgress(rig.client, 'g', clusterId)).map(
          ({ topic, partition, endOffset }) => `${topic}/${partition} ${endOffset}`,
        );
      expect(await reached('c')).toEqual(['other/0 99', 't/0 30', 't/1 98']);
      expect(await reached('d')).toEqual(['t/0 101']);
      expect(await store.ledgerEnds('g', 'none', 0)).toEqual([]);
      expect(await store.groupBeginMs('g', 't', 'd')).toBeGreaterThan(0);
      expect(await store.groupBeginMs('g', 't', 'e')).toBeUndefined();
    } finally {
      await rig.close();
    }
  });
});
