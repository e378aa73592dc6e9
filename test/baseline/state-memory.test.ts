import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { StateMemory } from '../../src/baseline/state-memory.ts';

const memory = StateMemory.shared();

describe('StateMemory', () => {
  it('gives rooms of whole cache lines that are 0 and nobody else’s, and keeps what is in them', () => {
    const owners = Array.from({ length: 300 }, () => ({}));
    const rooms = owners.map((owner, i) => memory.take(owner, 1_000 + i));
    rooms.forEach(({ at, doubles }, i) => {
      expect([at % 8, doubles >= 1_000 + i]).toEqual([0, true]);
      const room = memory.doubles.subarray(at, at + doubles);
      expect(room.every((value) => value === 0)).toBe(true);
      room.fill(i);
    });
    const grown = memory.doubles.length;
    while (memory.doubles.length === grown) owners.push(memory.take({}, 100_000));
    rooms.forEach(({ at, doubles }, i) => {
      expect(memory.doubles.subarray(at, at + doubles).every((value) => value === i)).toBe(true);
    });
  });

  it('gives a room anew that has become too small', () => {
    const room = memory.take({}, 4_096);
    memory.doubles.fill(7, room.at, room.at + room.doubles);
    const { at } = room;
    memory.enlarge(room, 9_001);
    expect(room.doubles).toBe(9_008);
    expect(memory.doubles[room.at]).toBe(0);
    const again = memory.take({}, 4_096);
    expect([again.at, memory.doubles[again.at]]).toEqual([at, 0]);
  });

  it('has what it gave once nobody has the owner any more', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const before = memory.doubles.length;
    for (let round = 0; round < 40; round++) {
      // Four MiB each, 160 in all.
      for (let n = 0; n < 16; n++) memory.take({}, 2 ** 15 + 8);
      collect();
      await nextTurn();
    }
    expect(memory.doubles.length - before).toBeLessThan((40 * 2 ** 20) / 8);
  });
});
