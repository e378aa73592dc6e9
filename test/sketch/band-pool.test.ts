import { describe, expect, it } from 'vitest';
import { bandRange } from '../../src/sketch/band.ts';
import { BandPool } from '../../src/sketch/band-pool.ts';
import { weyl32 } from '../base/seeded-random.ts';

const bands = new Int16Array(bandRange.count);
const amounts = new Float64Array(bandRange.count);

function read(pool: BandPool, slot: number): [number, number][] {
  const n = pool.read(slot, bands, amounts);
  return Array.from({ length: n }, (_, i) => [bands[i] ?? 0, amounts[i] ?? 0]);
}

describe('BandPool', () => {
  it.each([
    [1, 0],
    [-1, 0],
    [0, -81],
    [0, 128],
    [0, Number.NaN],
  ])('refuses slot %d, band %d', (slot, band) => {
    const pool = new BandPool();
    pool.allocate();
    if (band === 0) expect(() => pool.read(slot, bands, amounts)).toThrow(/^BUG: /);
    expect(() => pool.add(slot, band, 1)).toThrow(/^BUG: /);
    expect(read(pool, 0)).toEqual([]);
  });

  it('reads the added values, ascending, from the lowest to the highest band', () => {
    const pool = new BandPool();
    const slot = pool.allocate();
    pool.add(slot, 127, 5);
    pool.add(slot, -80, 1);
    pool.add(slot, 0, 2.5);
    pool.add(slot, 0, 0.25);
    pool.add(slot, 16, 0);
    expect(read(pool, slot)).toEqual([
      [-80, 1],
      [0, 2.75],
      [127, 5],
    ]);
  });

  it('equals a map of maps over many slots, again after a reset in the same memory', () => {
    const pool = new BandPool();
    const random = weyl32(9);
    let bytes = 0;
    for (let round = 0; round < 2; round++) {
      const reference = Array.from({ length: 5000 }, () => new Map<number, number>());
      for (let slot = 0; slot < reference.length; slot++) expect(pool.allocate()).toBe(slot);
      for (let i = 0; i < 60_000; i++) {
        const slot = Math.floor(random() * reference.length);
        const band = Math.floor(random() * bandRange.count) + bandRange.lowest;
        const amount = 1 + Math.floor(random() * 100);
        pool.add(slot, band, amount);
        reference[slot]?.set(band, (reference[slot]?.get(band) ?? 0) + amount);
      }
      for (const [slot, expected] of reference.entries()) {
        expect(read(pool, slot)).toEqual([...expected].sort(([a], [b]) => a - b));
      }
      if (round === 0) ({ bytes } = pool);
      pool.reset();
      expect(() => read(pool, 0)).toThrow(/^BUG: /);
    }
    expect(bytes).toBeGreaterThan(5000 * 64);
    expect(pool.bytes).toBeLessThanOrEqual(bytes * 1.1);
  });
});
