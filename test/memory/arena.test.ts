import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { type Allocation, Arena } from '../../src/memory/arena.ts';

const memory = Arena.shared();
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

describe('Arena', () => {
  it('gives rooms of whole cache lines that are 0 and nobody else’s, and keeps what is in them', () => {
    const rooms = Array.from({ length: 300 }, (_, i) => memory.allocate(1_000 + i));
    rooms.forEach(({ offset: at, doubles }, i) => {
      expect([at % 8, doubles >= 1_000 + i]).toEqual([0, true]);
      const room = memory.doubles.subarray(at, at + doubles);
      expect(room.every((value) => value === 0)).toBe(true);
      room.fill(i);
    });
    const grown = memory.doubles.length;
    while (memory.doubles.length === grown) memory.allocate(100_000);
    rooms.forEach(({ offset: at, doubles }, i) => {
      expect(memory.doubles.subarray(at, at + doubles).every((value) => value === i)).toBe(true);
    });
  });

  it('gives a room that was released to the next one of its size, empty', () => {
    const rooms = memory.scope();
    const [room, other] = [rooms.allocate(5_000), rooms.allocate(5_000)];
    memory.doubles.fill(7, room.offset, room.offset + room.doubles);
    rooms.release(room);
    expect(rooms.allocate(9_000).offset).not.toBe(room.offset);
    const again = rooms.allocate(4_999);
    expect([again.offset, memory.doubles[again.offset]]).toEqual([room.offset, 0]);
    expect(again.offset).not.toBe(other.offset);
  });

  it('says so when there is no room for more, and goes on with what there is', () => {
    const before = memory.doubles.length;
    expect(() => memory.allocate(2 ** 29)).toThrow(
      new RangeError('detectors keep 4 GiB already: there is no room for more'),
    );
    expect(memory.doubles.length).toBe(before);
    const { offset: at } = memory.allocate(3_000);
    expect(memory.doubles[at + 2_999]).toBe(0);
  });

  it('has each room of an owner once, of which one was released before', async () => {
    const size = 77_056;
    const lend = () => {
      const rooms = memory.scope();
      const [first, ...others] = [rooms.allocate(size), rooms.allocate(size), rooms.allocate(size)];
      rooms.release(first as Allocation);
      return [first, ...others].map((room) => room?.offset);
    };
    const lent = lend();
    for (let round = 0; round < 6; round++) {
      collect();
      await nextTurn();
    }
    const again = Array.from({ length: 4 }, () => memory.allocate(size).offset);
    expect(again.slice(0, 3).sort()).toEqual(lent.sort());
    expect(lent).not.toContain(again[3]);
  });

  it('has what it gave once nobody has its owner any more', async () => {
    const before = memory.doubles.length;
    // A collection looks through all that the files before have left.
    for (let round = 0; round < 10; round++) {
      // 16 MiB each, 160 in all.
      for (let n = 0; n < 32; n++) memory.scope().allocate(2 ** 15 + 64);
      for (let n = 0; n < 32; n++) memory.allocateFor({}, 2 ** 15 + 64);
      collect();
      await nextTurn();
    }
    expect(memory.doubles.length - before).toBeLessThan((40 * 2 ** 20) / 8);
  });
});
