import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RangeSums } from '../../src/baseline/range-sums.ts';

const additions = fc.array(
  fc.record({ index: fc.integer({ min: -90, max: 130 }), amount: fc.integer({ min: 1, max: 9 }) }),
);

/** Sums by index, those of 0 left out. */
function entriesOf(sums: RangeSums): [number, number][] {
  return [...sums.values]
    .map((amount, i): [number, number] => [sums.low + i, amount])
    .filter(([, amount]) => amount !== 0);
}

describe('RangeSums', () => {
  it('is a map of sums, wherever the indices lie and in whatever order they come', () => {
    fc.assert(
      fc.property(additions, additions, (some, others) => {
        const [one, other] = [new RangeSums(), new RangeSums()];
        const expected = new Map<number, number>();
        for (const { index, amount } of some) one.add(index, amount);
        for (const { index, amount } of others) other.add(index, amount);
        for (const { index, amount } of [...some, ...others]) {
          expected.set(index, (expected.get(index) ?? 0) + amount);
        }
        expect(entriesOf(RangeSums.of([one, other]))).toEqual(
          [...expected].sort(([a], [b]) => a - b),
        );
      }),
      { seed: 6, numRuns: 200 },
    );
  });
});
