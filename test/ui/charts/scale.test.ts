import { describe, expect, it } from 'vitest';
import {
  linearScale,
  linearTicks,
  logScale,
  logTicks,
  ratioTicks,
  tailPosition,
  timeTicks,
} from '../../../ui/src/charts/geometry/scale.ts';

describe('scales', () => {
  it('map a domain without extent to the middle', () => {
    expect(linearScale([5, 5], [0, 100])(5)).toBe(50);
  });

  it('map ends to ends, also downwards and by logarithm', () => {
    expect(linearScale([0, 10], [100, 0])(10)).toBe(0);
    const log = logScale([1, 100], [0, 200]);
    expect([log(1), log(10), log(100)].map(Math.round)).toEqual([0, 100, 200]);
    expect(Number.isFinite(log(0))).toBe(true);
  });

  it('put each further nine of a quantile one step on', () => {
    expect([0.9, 0.99, 0.999].map((q) => Number(tailPosition(q).toFixed(9)))).toEqual([1, 2, 3]);
  });
});

describe('ticks', () => {
  it('of a log axis are 1, 2, 5 as long as they fit, then powers of ten', () => {
    expect(logTicks([8, 300], 9)).toEqual([10, 20, 50, 100, 200]);
    expect(logTicks([0.1, 100_000], 5)).toEqual([0.1, 10, 1000, 100_000]);
  });

  it('of a linear axis are round and inside', () => {
    expect(linearTicks([0, 322], 6)).toEqual([0, 100, 200, 300]);
    expect(linearTicks([0, 0.3], 4)).toEqual([0, 0.1, 0.2, 0.3]);
    expect(linearTicks([7, 7], 4)).toEqual([7]);
  });

  it('of a ratio axis hold 1 whatever the range is', () => {
    for (const range of [
      [0.8, 1.25],
      [0.06, 16],
      [0.99, 1.01],
    ] as const) {
      expect(ratioTicks(range, 7)).toContain(1);
      expect(ratioTicks(range, 7).length).toBeLessThanOrEqual(7);
    }
  });

  it('of a time axis are round by the clock of the zone, across a change of the clock too', () => {
    const from = Date.parse('2026-10-24T22:00:00Z');
    const day = 86_400_000;
    const change = Date.parse('2026-10-25T01:00:00Z');
    const offset = (at: number) => (at < change ? 2 : 1) * 3_600_000;
    const { times } = timeTicks(from, from + 3 * day, 4, offset);
    expect(times.map((at) => new Date(at + offset(at)).toISOString().slice(11, 16))).toEqual(
      times.map(() => '00:00'),
    );
    expect(times.length).toBeGreaterThan(2);
  });
});
