// Covers src/sink/ledger-problems.ts.

import { describe, expect, it } from 'vitest';
import { checkLedger, type LedgerRow } from './ledger-check.ts';

/** A ledger row of [start, end) whose records have these offsets as milliseconds after the epoch. */
function row(start: number, end: number, more: Partial<LedgerRow> = {}): LedgerRow {
  const consumed = end - start;
  return {
    group_id: 'g',
    topic: 't',
    partition: 0,
    log_id: 'c/t',
    start_offset: start,
    end_offset: end,
    first_ms: start,
    last_ms: end - 1,
    records: consumed,
    consumed,
    aggregated: consumed,
    rejected: 0,
    late: 0,
    overflow: 0,
    unmapped: 0,
    samples: consumed * 3,
    ...more,
  };
}

describe('a ledger whose ranges tile', () => {
  it('has no problems, and is summed up by partition', () => {
    const other = { partition: 1 };
    const { partitions, problems } = checkLedger([row(5, 8), row(8, 20), row(0, 4, other)]);
    expect(problems).toEqual([]);
    const name = { group_id: 'g', topic: 't' };
    expect(partitions).toEqual([
      {
        ...name,
        partition: 0,
        log_id: 'c/t',
        chunks: 2,
        from_offset: 5,
        to_offset: 20,
        consumed: 15,
      },
      {
        ...name,
        partition: 1,
        log_id: 'c/t',
        chunks: 1,
        from_offset: 0,
        to_offset: 4,
        consumed: 4,
      },
    ]);
  });

  it('may be empty', () => {
    expect(checkLedger([])).toEqual({ partitions: [], problems: [] });
  });

  it('is checked by group, topic, partition and log, whatever their names', () => {
    const rows = [
      row(0, 5),
      row(0, 6, { group_id: 'other' }),
      row(0, 7, { topic: 'other' }),
      row(0, 8, { partition: 7 }),
      row(0, 8, { log_id: 'c/u' }),
      row(0, 9, { group_id: 'a/b', topic: 'c' }),
      row(0, 10, { group_id: 'a', topic: 'b/c' }),
    ];
    const { partitions, problems } = checkLedger(rows);
    expect(problems).toEqual([]);
    expect(partitions).toHaveLength(7);
  });
});

describe('a ledger with an error', () => {
  it('shows a gap where the next range starts later', () => {
    expect(checkLedger([row(0, 5), row(6, 9)]).problems).toEqual([
      {
        kind: 'gap',
        group_id: 'g',
        topic: 't',
        partition: 0,
        log_id: 'c/t',
        start_offset: 6,
        from_offset: 5,
        to_offset: 6,
        amount: 1,
        detail: 'offsets [5, 6) are in no chunk: [6, 9) follows what ended at 5',
      },
    ]);
  });

  it.each([
    ['stored twice', [row(0, 5), row(0, 5)]],
    ['started too early', [row(0, 5), row(4, 9)]],
    ['within another', [row(0, 9), row(9, 20), row(12, 15)]],
  ])('shows an overlap where a range was %s', (_, rows) => {
    expect(checkLedger(rows).problems.map(({ kind }) => kind)).toEqual(['overlap']);
  });

  it.each([
    ['whole', [row(0, 5), row(5, 9), row(5, 9)], [5, 9], '[5, 9) and [5, 9)'],
    ['in part', [row(0, 5), row(3, 9)], [3, 5], '[0, 5) and [3, 9)'],
    ['inside', [row(0, 9), row(4, 6)], [4, 6], '[0, 9) and [4, 6)'],
  ])(
    'names the offsets that two chunks share, and both chunks: %s',
    (_, rows, [from, to], both) => {
      expect(checkLedger(rows).problems).toMatchObject([
        {
          kind: 'overlap',
          from_offset: from,
          to_offset: to,
          detail: `offsets [${from}, ${to}) are in two chunks: ${both}`,
        },
      ]);
    },
  );

  it('sees a gap behind a chunk that lies within another', () => {
    const rows = [row(0, 20), row(5, 8), row(20, 30), row(31, 40)];
    expect(checkLedger(rows).problems).toMatchObject([
      { kind: 'overlap', from_offset: 5, to_offset: 8 },
      { kind: 'gap', from_offset: 30, to_offset: 31 },
    ]);
  });

  it('tolerates a clock that was set back between two chunks', () => {
    expect(checkLedger([row(0, 5), row(9, 12), row(5, 9), row(12, 14)]).problems).toEqual([]);
  });

  it('shows records without an account', () => {
    const rows = [row(0, 10, { aggregated: 4, rejected: 3, late: 2, overflow: 2 })];
    expect(checkLedger(rows).problems).toMatchObject([
      { kind: 'conservation', amount: 1, detail: 'chunk [0, 10): consumed 10, accounted for 11' },
    ]);
  });

  it('shows a range that ends where it starts', () => {
    expect(checkLedger([row(0, 5), row(5, 5)]).problems).toMatchObject([
      { kind: 'empty_range', start_offset: 5 },
    ]);
  });

  it('shows every problem, not the first alone', () => {
    const rows = [row(0, 5), row(7, 9), row(8, 12, { late: 1 })];
    expect(checkLedger(rows).problems.map(({ kind }) => kind)).toEqual([
      'conservation',
      'gap',
      'overlap',
    ]);
  });
});

describe('a recreated topic', () => {
  const recreated = (start: number, end: number) => row(start, end, { log_id: 'c/u' });

  it('starts over at lower offsets', () => {
    const { partitions, problems } = checkLedger([
      row(0, 5),
      row(5, 9),
      recreated(0, 7),
      recreated(7, 8),
    ]);
    expect(problems).toEqual([]);
    expect(partitions).toMatchObject([
      { log_id: 'c/t', chunks: 2, from_offset: 0, to_offset: 9, consumed: 9 },
      { log_id: 'c/u', chunks: 2, from_offset: 0, to_offset: 8, consumed: 8 },
    ]);
  });

  it('must tile as well', () => {
    const rows = [row(0, 9), recreated(0, 3), recreated(4, 6)];
    expect(checkLedger(rows).problems.map(({ kind }) => kind)).toEqual(['gap']);
  });

  it('does not allow the same offsets of one log again', () => {
    const rows = [row(0, 9), row(0, 4)];
    expect(checkLedger(rows).problems.map(({ kind }) => kind)).toEqual(['overlap']);
  });
});
