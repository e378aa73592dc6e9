import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OrderedMap } from '../../../src/detect/lifecycle/keyed-detectors.ts';

const key = fc.constantFrom('b', 'a', 'B', 'ä', '', 'aa');
const step = fc.oneof(
  fc.record({ kind: fc.constantFrom('set', 'delete', 'look'), key }),
  fc.record({ kind: fc.constant('clear'), key }),
);

describe('OrderedMap', () => {
  it('is a map, and knows the order of its keys whatever came and went', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const map = new OrderedMap<number>();
        const model = new Map<string, number>();
        for (const [n, given] of steps.entries()) {
          const before = map.sortedKeys();
          const copy = [...before];
          for (const each of [map, model]) {
            if (given.kind === 'set') each.set(given.key, n);
            else if (given.kind === 'delete') each.delete(given.key);
            else if (given.kind === 'clear') each.clear();
          }
          expect([...map]).toEqual([...model]);
          expect(map.sortedKeys()).toEqual([...model.keys()].sort());
          expect(before).toEqual(copy);
        }
      }),
      { seed: 4, numRuns: 200 },
    );
  });
});
