import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Arena } from '../../src/memory/arena.ts';
import { NumberRing } from '../../src/memory/ring.ts';
import { StateReader } from '../../src/snapshot/archive-reader.ts';
import { StateWriter } from '../../src/snapshot/archive-writer.ts';

const memory = Arena.shared();
const steps = fc.array(fc.constantFrom('push', 'push', 'push', 'drop'), { maxLength: 60 });

function put(at: number, value: number): void {
  memory.doubles[at] = value;
  memory.doubles[at + 1] = -value;
}

function entryAt(at: number): [number, number] {
  return [memory.doubles[at] as number, memory.doubles[at + 1] as number];
}

/** All that is in it, oldest first. */
function entriesOf(ring: NumberRing): [number, number][] {
  return ring.lastOffsets(ring.length).map(entryAt);
}

function serialize(ring: NumberRing, state: StateWriter | StateReader): void {
  ring.serializeEach(state, (at) => put(at, state.number(memory.doubles[at] as number)));
}

describe('NumberRing', () => {
  it('has the last entries in order, whatever was pushed and dropped, and goes on alike when it was saved', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 7 }), steps, (most, given) => {
        let ring = new NumberRing(2, most);
        let model: number[] = [];
        for (const [n, step] of given.entries()) {
          if (step === 'push') {
            put(ring.push(), n);
            model = [...model, n].slice(-most);
          } else if (model.length > 0) {
            ring.dropOldest();
            model = model.slice(1);
          }
          expect(entriesOf(ring)).toEqual(model.map((value) => [value, -value]));
          expect(model.map((_, i) => entryAt(ring.offsetBack(i + 1))[0])).toEqual(
            model.toReversed(),
          );
          expect(ring.lastOffsets(2).map((at) => entryAt(at)[0])).toEqual(model.slice(-2));
          const slots = ring.lastOffsets(most).map((at) => ring.slotOf(at));
          expect(new Set(slots).size).toBe(model.length);
          expect(slots.every((slot) => slot >= 0 && slot < most && slot % 1 === 0)).toBe(true);
          if (n % 9 !== 8) continue;
          const writer = new StateWriter();
          serialize(ring, writer);
          const reader = new StateReader(writer.drain());
          ring = new NumberRing(2, most);
          serialize(ring, reader);
          reader.end();
        }
      }),
      { seed: 11, numRuns: 200 },
    );
  });
});
