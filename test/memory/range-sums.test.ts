import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Arena } from '../../src/memory/arena.ts';
import { RangeSums } from '../../src/memory/range-sums.ts';

const additions = fc.array(
  fc.record({ index: fc.integer({ min: -90, max: 130 }), amount: fc.integer({ min: 1, max: 9 }) }),
);

const pairs = fc.array(
  fc.record({ index: fc.integer({ min: -90, max: 130 }), amount: fc.integer({ min: 1, max: 9 }) }),
  { minLength: 1 },
);

/** Sums by index, those of 0 left out. */
function entriesOf(sums: RangeSums): [number, number][] {
  return [...sums.values]
    .map((amount, i): [number, number] => [sums.low + i, amount])
    .filter(([, amount]) => amount !== 0);
}

function columnsOf(
  all: readonly { readonly index: number; readonly amount: number }[],
): [indices: number[], amounts: number[]] {
  return [all.map(({ index }) => index), all.map(({ amount }) => amount)];
}

describe('RangeSums', () => {
  it('is a map of sums, wherever the indices lie and in whatever order they come', () => {
    fc.assert(
      fc.property(additions, additions, (some, others) => {
        const sums = new RangeSums();
        const expected = new Map<number, number>();
        sums.addAll(...columnsOf(some));
        sums.addAll(...columnsOf(others));
        for (const { index, amount } of [...some, ...others]) {
          expected.set(index, (expected.get(index) ?? 0) + amount);
        }
        expect(entriesOf(sums)).toEqual([...expected].sort(([a], [b]) => a - b));
      }),
      { seed: 6, numRuns: 200 },
    );
  });

  it('keeps several sums of an index side by side, also where another one had room for them', () => {
    const addAll = (sums: RangeSums, all: readonly { index: number; amount: number }[]) => {
      for (const { index, amount } of all) {
        const at = sums.offsetOf(index);
        const { doubles } = Arena.shared();
        doubles[at] = (doubles[at] as number) + amount;
        doubles[at + 1] = (doubles[at + 1] as number) - 2 * amount;
      }
    };
    fc.assert(
      fc.property(pairs, pairs, (some, others) => {
        const one = new RangeSums(2);
        addAll(one, some);
        const other = RangeSums.like(one);
        expect(entriesOf(other)).toEqual([]);
        const before = other.offset;
        addAll(other, some);
        expect(other.offset).toBe(before);
        addAll(other, others);
        const expected = new Map<number, number>();
        for (const { index, amount } of [...some, ...others]) {
          expected.set(index, (expected.get(index) ?? 0) + amount);
        }
        for (let index = other.low; index < other.low + other.range; index++) {
          const sum = expected.get(index) ?? 0;
          const at = other.offsetOf(index);
          const [first, second] = Arena.shared().doubles.subarray(at, at + 2);
          expect([first, second]).toEqual([sum, sum === 0 ? 0 : -2 * sum]);
        }
      }),
      { seed: 7, numRuns: 200 },
    );
  });
});
