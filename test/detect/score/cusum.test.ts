import { describe, expect, it } from 'vitest';
import { Cusum } from '../../../src/detect/score/cusum.ts';

describe('Cusum', () => {
  it('adds up evidence while it is positive, and restarts at zero', () => {
    const evidence = new Cusum(2, 5);
    const rows = [
      [1, -1],
      [-2, 3],
      [2, -4],
      [1, 2],
    ];
    const most = rows.map((row, at) => evidence.add(at, Float64Array.from(row)));
    expect(most).toEqual([0, 1, 0, 0]);
    expect([evidence.sum(0), evidence.sum(1)]).toEqual([3, 2]);
    expect([evidence.startMs(0), evidence.startMs(1)]).toEqual([2, 3]);
    expect([evidence.gaining(0), evidence.gaining(1)]).toEqual([2, 1]);
    expect([evidence.rest(0), evidence.last(0)]).toEqual([1, 1]);
  });

  it('drops evidence that has fallen far from its peak, if it was anomalous', () => {
    const fallen = (peak: number) => {
      const evidence = new Cusum(1, 5);
      for (const [at, gain] of [peak, -0.5 * peak].entries()) {
        evidence.add(at, Float64Array.of(gain));
      }
      return evidence.sum(0);
    };
    expect([fallen(4), fallen(6)]).toEqual([2, 0]);
  });
});
