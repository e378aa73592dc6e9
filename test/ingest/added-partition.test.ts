import { expect, it } from 'vitest';
import { resolveStartPosition } from '../../src/ingest/start-position.ts';

/** Where a partition is read from that has neither a commit nor chunks, and lost its first 600 records. */
function positionAt(nowMs: number) {
  return resolveStartPosition(
    { topic: 't', partition: 0 },
    {
      logId: 'c/t',
      committed: { offset: undefined, metadata: '' },
      startOffset: 600,
      endOffset: 900,
      firstOffsetAt: async () => 600,
      endOfEpoch: async () => undefined,
    },
    {
      groupId: 'g',
      storeId: undefined,
      startFrom: 'earliest',
      store: { ledgerEnds: async () => [], groupBeginMs: async () => 7_000 },
      nowMs,
    },
  );
}

it('a partition that was added long after its group started lost what was removed by now', async () => {
  expect(await positionAt(3_607_001)).toMatchObject({
    ...{ reason: 'added', startOffset: 0, readOffset: 600 },
    ...{ lostOffsets: 600, removedFrom: 0, mustCommit: true },
  });
});

it('a partition without a position in the first hour may have been there without a leader', async () => {
  expect(await positionAt(3_607_000)).toMatchObject({
    ...{ reason: 'start_from', startOffset: 600, readOffset: 600, lostOffsets: 0 },
  });
});
