import { describe, expect, it } from 'vitest';
import { ratioInterval } from '../../src/compare/ratio-interval.ts';
import { TailMinutes } from '../../src/compare/tail-minutes.ts';
import { minutesOf, type Traffic } from './traffic.ts';

const v1: Traffic = { requests: 200 };

function tailOf(seed: string, count: number, candidate: Traffic): TailMinutes {
  const tail = new TailMinutes();
  for (const minute of minutesOf(seed, count, candidate, v1)) {
    const baseline = minute.baseline?.stages.get('queue');
    if (baseline !== undefined) tail.observe(minute.candidate?.stages.get('queue'), baseline);
  }
  return tail;
}

function intervalOf({ minutes, candidate, baseline }: TailMinutes, q: number) {
  return ratioInterval(minutes, q, candidate.quantile(q) / baseline.quantile(q), 0.02);
}

describe('the interval of a ratio', () => {
  it.each([0, 1, 5])('of %i minutes excludes nothing', (minutes) => {
    expect(intervalOf(tailOf('few', minutes, v1), 0.5)).toEqual([0, Infinity]);
  });

  it.each([0, Number.NaN, Number.POSITIVE_INFINITY])(
    'of a measured ratio of %d excludes nothing',
    (ratio) => {
      expect(ratioInterval(tailOf('odd', 20, v1).minutes, 0.5, ratio, 0.02)).toEqual([0, Infinity]);
    },
  );

  it.each([0.05, 0.5, 1, 1.7, 30])('of versions that differ by × %d holds it', (factor) => {
    for (const q of [0.5, 0.9, 0.99]) {
      const [low, high] = intervalOf(tailOf(`${factor}`, 60, { requests: 200, factor }), q);
      expect(low).toBeLessThan(factor);
      expect(high).toBeGreaterThan(factor);
      expect(high / low).toBeLessThan(q === 0.99 ? 1.6 : 1.25);
    }
  });

  it('holds the true ratio in exactly so many of 100 pairs, at the end of 20 minutes', () => {
    const held = Array.from({ length: 100 }, (_, i) => {
      const [low, high] = intervalOf(tailOf(`pair ${i}`, 20, { requests: 150, factor: 1.2 }), 0.9);
      return low < 1.2 && high > 1.2;
    });
    expect(held.filter(Boolean).length).toBe(99);
  });
});
