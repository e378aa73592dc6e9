import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IntTable } from '../../src/window/int-table.ts';

const key = fc.tuple(fc.integer({ min: -3, max: 3 }), fc.integer(), fc.constantFrom(0, 1, -1));
const step = fc.oneof(
  { weight: 40, arbitrary: key.map((parts) => ({ kind: 'key' as const, parts })) },
  { weight: 1, arbitrary: fc.constant({ kind: 'clear' as const, parts: [] as number[] }) },
);

describe('IntTable', () => {
  it('is a Map from keys to the order in which they came', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 600 }), (steps) => {
        const table = new IntTable(3);
        const map = new Map<string, number>();
        for (const { kind, parts } of steps) {
          if (kind === 'clear') {
            table.clear();
            map.clear();
            continue;
          }
          const text = parts.join();
          const known = map.get(text);
          expect(table.find(Int32Array.from(parts))).toBe(known ?? -1);
          if (known !== undefined) continue;
          map.set(text, table.size);
          expect(table.add(Int32Array.from(parts))).toBe(map.get(text));
        }
        expect(table.size).toBe(map.size);
        for (const [text, index] of map) {
          const parts = [0, 1, 2].map((i) => table.part(index, i));
          expect(parts.join()).toBe(text);
        }
      }),
      { seed: 1, numRuns: 60 },
    );
  });

  it('keeps every key over many resizes, and its memory over clear', () => {
    const table = new IntTable(2);
    const numbers = Array.from({ length: 50_000 }, (_, i) => i);
    expect(numbers.filter((i) => table.add(Int32Array.of(i, -i)) !== i)).toEqual([]);
    expect(numbers.filter((i) => table.find(Int32Array.of(i, -i)) !== i)).toEqual([]);
    expect(table.find(Int32Array.of(1, 1))).toBe(-1);
    const { bytes } = table;
    table.clear();
    expect(table.find(Int32Array.of(0, 0))).toBe(-1);
    expect(table.add(Int32Array.of(5, 5))).toBe(0);
    expect(table.bytes).toBe(bytes);
  });

  it('copies the key, which the caller reuses', () => {
    const table = new IntTable(1);
    const reused = Int32Array.of(1);
    table.add(reused);
    reused[0] = 2;
    expect(table.find(Int32Array.of(1))).toBe(0);
    expect(table.find(reused)).toBe(-1);
  });
});
