import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RowTable } from '../../src/window/row-table.ts';

const row = fc.record({
  kind: fc.constant('row' as const),
  cell: fc.integer({ min: 0, max: 300 }),
  stageId: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 255 })),
  status: fc.integer({ min: 0, max: 3 }),
  requests: fc.oneof(fc.constant(1), fc.constant(2 ** 33)),
});
const step = fc.oneof(
  { weight: 60, arbitrary: row },
  { weight: 1, arbitrary: fc.constant({ kind: 'reset' as const }) },
);

describe('RowTable', () => {
  it('is a Map from cell and stage to rows, with counts', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 800 }), (steps) => {
        const table = new RowTable();
        let model = new Map<string, { row: number; counts: number[] }>();
        for (const given of steps) {
          if (given.kind === 'reset') {
            table.reset();
            model = new Map();
            continue;
          }
          const name = `${given.cell}/${given.stageId}`;
          let known = model.get(name);
          expect(table.find(given.cell, given.stageId)).toBe(known?.row ?? -1);
          if (known === undefined) {
            known = { row: model.size, counts: [0, 0, 0] };
            model.set(name, known);
            expect(table.add(given.cell, given.stageId)).toBe(known.row);
          }
          if (given.status === 0) continue;
          table.countStatus(known.row, given.status, given.requests);
          known.counts[given.status - 1] =
            (known.counts[given.status - 1] as number) + given.requests;
        }
        expect(table.size).toBe(model.size);
        for (const [name, { row: at, counts }] of model) {
          expect(`${table.cell(at)}/${table.stageId(at)}`).toBe(name);
          expect([1, 2, 3].map((status) => table.statusCount(at, status))).toEqual(counts);
        }
      }),
      { seed: 2, numRuns: 60 },
    );
  });

  it('finds its rows after it has grown in cells and in stages', () => {
    const table = new RowTable();
    for (let cell = 0; cell < 2_000; cell++) table.add(cell, cell % 16);
    for (let stageId = 16; stageId < 256; stageId++) table.add(7, stageId);
    const cells = Array.from({ length: 2_000 }, (_, cell) => cell);
    expect(cells.filter((cell) => table.find(cell, cell % 16) !== cell)).toEqual([]);
    for (let stageId = 16; stageId < 256; stageId++) {
      expect(table.find(7, stageId)).toBe(2_000 + stageId - 16);
    }
    expect(table.find(8, 16)).toBe(-1);
    expect(table.find(2_000, 0)).toBe(-1);
  });
});
