import { describe, expect, it } from 'vitest';
import { ClickHouseChunkStore } from '../../src/sink/chunks/chunk-store.ts';
import { useStack } from '../containers/stack.ts';
import type { LedgerRow } from '../sink/ledger-check.ts';
import { Rig } from './kit/rig.ts';
import { storeLedger } from './kit/stored-ledger.ts';

const stack = useStack();

/** `[start, end, first record's second, latest record's second]`, in the order of their arrival. */
type Row = readonly [number, number, number, number];

const cases: readonly (readonly [string, readonly Row[], end: number, latestS: number])[] = [
  [
    'chunks in order',
    [
      [0, 9, 100, 109],
      [9, 20, 110, 120],
    ],
    20,
    120,
  ],
  [
    'a chunk that is written twice',
    [
      [0, 9, 100, 109],
      [9, 20, 110, 120],
      [0, 9, 100, 109],
    ],
    20,
    120,
  ],
  [
    'records out of the order of time',
    [
      [0, 9, 190, 199],
      [9, 20, 100, 110],
    ],
    20,
    199,
  ],
  [
    'a recreated topic',
    [
      [0, 9, 100, 109],
      [9, 20, 110, 120],
      [0, 4, 200, 203],
    ],
    4,
    203,
  ],
  [
    'a topic recreated twice',
    [
      [0, 9, 100, 109],
      [0, 4, 200, 203],
      [4, 7, 204, 206],
      [0, 2, 300, 301],
    ],
    2,
    301,
  ],
  [
    'a row of the topic before that comes late',
    [
      [0, 9, 100, 109],
      [0, 4, 200, 203],
      [9, 20, 110, 120],
    ],
    4,
    203,
  ],
  [
    'the only row of the topic before, late',
    [
      [0, 4, 200, 203],
      [4, 6, 204, 205],
      [0, 9, 100, 109],
    ],
    6,
    205,
  ],
  [
    'chunks after a row that came late',
    [
      [0, 4, 200, 203],
      [0, 9, 100, 109],
      [4, 6, 204, 205],
      [6, 8, 206, 207],
    ],
    8,
    207,
  ],
  [
    'two cuts of the same records',
    [
      [0, 9, 100, 109],
      [9, 20, 110, 120],
      [9, 14, 110, 114],
    ],
    14,
    120,
  ],
];

function ledgerOf(groupId: string, topic: string, rows: readonly Row[]): LedgerRow[] {
  return rows.map(([start_offset, end_offset, firstS, latestS]) => ({
    group_id: groupId,
    topic,
    partition: 0,
    start_offset,
    end_offset,
    first_ms: 1_790_000_000_000 + firstS * 1_000,
    last_ms: 1_790_000_000_000 + latestS * 1_000,
    records: end_offset - start_offset,
    consumed: 0,
    aggregated: 0,
    rejected: 0,
    late: 0,
    overflow: 0,
    samples: 0,
  }));
}

describe('the end of a ledger', () => {
  it('is that of the current log, for any late rows', async () => {
    const rig = await Rig.open({ stack, name: 'ledger-end' });
    try {
      const store = new ClickHouseChunkStore(rig.client, 'test');
      for (const [n, [name, rows, endOffset, latestS]] of cases.entries()) {
        await storeLedger(rig, ledgerOf('g', `t${n}`, rows), Date.now());
        const end = await store.ledgerEnd('g', `t${n}`, 0);
        expect({ name, endOffset: end?.endOffset, latestMs: end?.latestTimestampMs }).toEqual({
          name,
          endOffset,
          latestMs: 1_790_000_000_000 + latestS * 1_000,
        });
      }
      expect(await store.ledgerEnd('g', 'none', 0)).toBeUndefined();
    } finally {
      await rig.close();
    }
  });
});
