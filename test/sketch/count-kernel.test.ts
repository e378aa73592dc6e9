import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { CountKernel } from '../../src/sketch/count-kernel.ts';
import { SketchPool } from '../../src/sketch/sketch-pool.ts';

const mebibyte = 2 ** 20;
const blocksOf = (addresses: readonly number[]) =>
  [...new Set(addresses.map((address) => Math.floor(address / 65_536)))].sort();

describe('the kernel’s memory', () => {
  it('is zeroed on request, and allocated in whole cache lines, again after a reset', () => {
    const kernel = CountKernel.shared();
    const arena = kernel.arena();
    const allocateAll = () => Array.from({ length: 300 }, () => arena.allocateZeroed(1024));
    const first = allocateAll();
    expect(new Set(first).size).toBe(300);
    expect(first.filter((address) => address % 64 !== 0)).toEqual([]);
    for (const address of first) kernel.bytes.fill(1, address, address + 1024);
    const { bytes } = arena;
    arena.reset();
    expect(arena.bytes).toBe(0);
    const again = allocateAll();
    expect(blocksOf(again)).toEqual(blocksOf(first));
    expect(arena.bytes).toBe(bytes);
    const used = again.flatMap((address) => [...kernel.bytes.subarray(address, address + 1024)]);
    expect(used.filter((byte) => byte !== 0)).toEqual([]);
  });

  it('keeps its contents when it grows', () => {
    const pool = new SketchPool();
    const slot = pool.allocate();
    for (let ms = 1; ms <= 100; ms++) pool.add(slot, ms);
    const before = CountKernel.shared().bytes.length;
    while (CountKernel.shared().bytes.length === before) pool.add(pool.allocate(), 1);
    expect(pool.requests(slot)).toBe(100);
    expect(pool.sumUs(slot)).toBe(5_050_000);
    expect([pool.minMs(slot), pool.maxMs(slot)]).toEqual([1, 100]);
  });

  it('of a pool that was reset is there for another', () => {
    const memory = () => CountKernel.shared().bytes.length;
    const fill = (pool: SketchPool) => {
      for (let n = 0; n < 65_000; n++) pool.add(pool.allocate(), n);
    };
    const pools = [new SketchPool(), new SketchPool()] as const;
    fill(pools[0]);
    const before = memory();
    for (const pool of [...pools, ...pools, ...pools]) {
      for (const each of pools) each.reset();
      fill(pool);
    }
    expect(memory()).toBe(before);
  });

  it('is free again once all pools are gone', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const memory = () => CountKernel.shared().bytes.length;
    const before = memory();
    // A collection looks through all that the files before have left.
    for (let round = 0; round < 10; round++) {
      // Four MiB each, 160 in all.
      for (const pool of Array.from({ length: 4 }, () => new SketchPool())) {
        for (let n = 0; n < 65_000; n++) pool.allocate();
      }
      // What is freed is said in turns of the event loop, after a collection and not always in the first.
      for (let turn = 0; turn < 3; turn++) {
        collect();
        await nextTurn();
      }
    }
    expect(memory() - before).toBeLessThan(40 * mebibyte);
  });
});
