import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bandFromMs, bandOf } from '../../src/sketch/band.ts';
import { bandQuantile } from '../../src/sketch/band-quantile.ts';

describe('the quantile of bands', () => {
  it('has the true one within its edges, at most a quarter apart', () => {
    const durations = fc.array(fc.double({ min: 0.001, max: 1e6, noNaN: true }), { minLength: 1 });
    const levels = fc.double({ min: 0.001, max: 0.999, noNaN: true });
    fc.assert(
      fc.property(durations, levels, (values, q) => {
        const bands = new Map<number, number>();
        for (const ms of values) bands.set(bandOf(ms), (bands.get(bandOf(ms)) ?? 0) + 1);
        const found = bandQuantile(bands, q);
        if (found === undefined) throw new Error('there are requests');
        const exact = values.toSorted((a, b) => a - b)[Math.ceil(q * values.length) - 1] as number;
        expect(found.lowMs).toBeLessThanOrEqual(exact);
        expect(found.highMs).toBeGreaterThan(exact);
        expect(found.ms).toBeGreaterThanOrEqual(found.lowMs);
        expect(found.ms).toBeLessThanOrEqual(found.highMs);
        expect(found.highMs / found.lowMs).toBeLessThanOrEqual(1.25);
      }),
    );
  });

  it.each([
    [0.25, 104],
    [0.5, 112],
    [1, 1_280],
  ])('at %d lies evenly within the band', (q, ms) => {
    const [low, high] = [bandOf(100), bandOf(1_024)];
    expect([bandFromMs(low), bandFromMs(low + 1)]).toEqual([96, 112]);
    const found = bandQuantile([[high, 2] as const, [low, 2] as const, [bandOf(112), 0]], q);
    expect(found?.ms).toBe(ms);
  });

  it('of no request is undefined', () => {
    expect(bandQuantile([], 0.5)).toBeUndefined();
    expect(bandQuantile([[3, 0]], 0.5)).toBeUndefined();
  });
});
