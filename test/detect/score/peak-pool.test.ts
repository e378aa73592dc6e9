import { describe, expect, it } from 'vitest';
import { PeakPool } from '../../../src/detect/score/peak-pool.ts';

function poolOf(excesses: readonly number[]): PeakPool {
  const pool = new PeakPool();
  for (const excess of excesses) pool.add(excess);
  return pool;
}

describe('PeakPool', () => {
  it('counts added peaks after they are shared, and once only', () => {
    const pool = poolOf([0.5, 2]);
    expect([pool.peaks, pool.excess]).toEqual([0, 0]);
    pool.publishShared();
    pool.publishShared();
    expect([pool.peaks, pool.excess]).toEqual([2, 2.5]);
  });

  it('has the same sum, to the last bit, for any order of peaks', () => {
    // As doubles, 0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1 differ.
    const [some, others] = [poolOf([0.1, 0.2, 0.3]), poolOf([0.3, 0.2, 0.1])];
    some.publishShared();
    others.publishShared();
    expect(some.excess).toBe(others.excess);
    expect(some.excess).toBeCloseTo(0.6, 5);
  });
});
