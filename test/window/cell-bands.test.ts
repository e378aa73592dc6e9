import { describe, expect, it } from 'vitest';
import { bandRange } from '../../src/sketch/band.ts';
import { CellBands } from '../../src/window/cell-bands.ts';
import { weyl32 } from '../base/seeded-random.ts';

const bands = new Int16Array(bandRange.count);
const amounts = new Float64Array(bandRange.count);

function read(table: CellBands, cell: number, column: number): [number, number][] {
  const n = table.read(cell, column, bands, amounts);
  return Array.from({ length: n }, (_, i) => [bands[i] ?? 0, amounts[i] ?? 0]);
}

describe('CellBands', () => {
  it.each([
    [0, -81],
    [0, 128],
    [-1, 0],
  ])('refuses cell %d, band %d', (cell, band) => {
    const table = new CellBands();
    expect(() => table.add(cell, band, 0, 1)).toThrow(/^BUG: /);
    expect(read(table, 0, 0)).toEqual([]);
  });

  it('reads the added values, ascending, from the lowest to the highest band', () => {
    const table = new CellBands();
    table.add(3, 127, 2, 5);
    table.add(3, -80, 2, 1);
    table.add(3, 0, 2, 2.5);
    table.add(3, 0, 2, 0.25);
    table.add(3, 16, 2, 0);
    expect(read(table, 3, 2)).toEqual([
      [-80, 1],
      [0, 2.75],
      [127, 5],
    ]);
    // Other columns, of the same vector or another, and other cells are empty.
    expect([0, 1, 3, 15, 16, 18].map((column) => read(table, 3, column))).toEqual(
      new Array(6).fill([]),
    );
    expect([0, 2, 4, 1_000].map((cell) => read(table, cell, 2))).toEqual(new Array(4).fill([]));
  });

  it('equals a map of maps over many cells and columns, again after a reset', () => {
    const table = new CellBands();
    const random = weyl32(9);
    const below = (end: number) => Math.floor(random() * end);
    let bytes = 0;
    for (let round = 0; round < 2; round++) {
      const reference = new Map<string, Map<number, number>>();
      for (let i = 0; i < 60_000; i++) {
        const [cell, column] = [below(300), random() < 0.9 ? below(12) : below(256)];
        const band = below(bandRange.count) + bandRange.lowest;
        const amount = 1 + below(100);
        table.add(cell, band, column, amount);
        const key = `${cell} ${column}`;
        const known = reference.get(key) ?? new Map<number, number>();
        reference.set(key, known.set(band, (known.get(band) ?? 0) + amount));
      }
      for (const [key, expected] of reference) {
        const [cell, column] = key.split(' ').map(Number) as [number, number];
        expect(read(table, cell, column)).toEqual([...expected].sort(([a], [b]) => a - b));
      }
      if (round === 0) ({ bytes } = table);
      else expect(table.bytes).toBe(bytes);
      table.reset();
      expect(table.size).toBe(0);
      expect(read(table, 0, 0)).toEqual([]);
    }
    expect(table.bytes).toBe(0);
  });
});
