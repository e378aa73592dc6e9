import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StageSums } from '../../src/baseline/stage-sums.ts';
import { Arena } from '../../src/memory/arena.ts';
import { StateReader } from '../../src/snapshot/archive-reader.ts';
import { StateWriter } from '../../src/snapshot/archive-writer.ts';

const stage = fc.integer({ min: 0, max: 19 }).map((n) => `stage ${n}`);
const window = fc.uniqueArray(
  fc.record({ stage, sumMs: fc.double({ min: 0, max: 1e6, noNaN: true }) }),
  { selector: (one) => one.stage, maxLength: 20 },
);

describe('StageSums', () => {
  it('is a map of sums to the last bit, in the order of the stages, also in a snapshot', () => {
    const rooms = Arena.shared().scope();
    fc.assert(
      fc.property(fc.array(window, { maxLength: 12 }), (windows) => {
        const sums = new StageSums(rooms);
        const model = new Map<string, number>();
        for (const stages of windows) {
          sums.add(stages);
          for (const { stage: name, sumMs } of stages) {
            model.set(name, (model.get(name) ?? 0) + sumMs);
          }
        }
        expect([...sums.entries()]).toEqual([...model]);
        const writer = new StateWriter();
        sums.serialize(writer);
        const reader = new StateReader(writer.drain());
        const restored = new StageSums(rooms);
        restored.serialize(reader);
        reader.end();
        expect([...restored.entries()]).toEqual([...model]);
        for (const each of [sums, restored]) each.release();
      }),
      { seed: 12, numRuns: 200 },
    );
  });

  it('frees its memory, cleared', () => {
    const rooms = Arena.shared().scope();
    const sums = new StageSums(rooms);
    sums.add(Array.from({ length: 50 }, (_, i) => ({ stage: `stage ${i}`, sumMs: 1 })));
    const { length } = Arena.shared().doubles;
    sums.release();
    for (let n = 0; n < 1_000; n++) {
      const others = Array.from({ length: 10 }, () => new StageSums(rooms));
      for (const other of others) other.add([{ stage: 'total', sumMs: n }]);
      for (const other of others) expect([...other.entries()]).toEqual([['total', n]]);
      for (const other of others) other.release();
    }
    expect(Arena.shared().doubles.length).toBe(length);
  });
});
