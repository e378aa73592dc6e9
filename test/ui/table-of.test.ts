import { describe, expect, it } from 'vitest';
import { tableOf } from '../../ui/src/parts/table-of.ts';

const rows = [
  { model: 'ranker', requests: 9, p99_ms: 310, isLive: true },
  { model: 'few', requests: 0, p99_ms: null, isLive: false },
];

describe('a table of numbers', () => {
  it('has fields under their own names, under others, and what is read from a row', () => {
    expect(
      tableOf(rows, [
        ...(['model', 'requests'] as const),
        ['p99, ms', 'p99_ms'],
        ['live', ({ isLive }) => (isLive ? 'yes' : 'no')],
      ]),
    ).toEqual({
      heads: ['model', 'requests', 'p99, ms', 'live'],
      rows: [
        ['ranker', 9, 310, 'yes'],
        ['few', 0, null, 'no'],
      ],
    });
  });

  it('keeps columns of one name apart: a stage may have any', () => {
    const { heads, rows: cells } = tableOf(rows, [
      ['mean, ms', 'p99_ms'],
      ['mean, ms', 'requests'],
    ]);
    expect([heads.length, cells[0]]).toEqual([2, [310, 9]]);
  });
});
