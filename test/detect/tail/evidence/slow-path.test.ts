import { describe, expect, it } from 'vitest';
import { slowPathQuantile } from '../../../../src/detect/tail/effect-counts.ts';
import { slowPathOf } from '../../../../src/detect/tail/evidence/slow-path.ts';
import type { Random } from '../../../../src/generate/random.ts';
import { type Draw, TestedStage } from '../../tested-stage.ts';

const perDay = 8_640;
const perMinute = 6;

/** Requests up to each bin. */
function upTo(byBin: readonly number[]): Float64Array {
  const sums = new Float64Array(byBin.length + 1);
  byBin.forEach((requests, bin) => {
    sums[bin + 1] = (sums[bin] as number) + requests;
  });
  return sums;
}

/** A fifth of the requests is slower than the others by so many eighths of an octave. */
const twoParts = (distance: number) =>
  Array.from({ length: 30 }, (_, bin) => {
    if (bin === 1 || bin === 2) return 40;
    return bin === distance + 1 || bin === distance + 2 ? 10 : 0;
  });

/** A cache whose hit share may depend on the window. */
const cache =
  (hits: (window: number) => number, [hitMs, missMs] = [4, 180]): Draw =>
  (random, window) =>
    random.chance(hits(window)) ? random.lognormal(hitMs, 0.2) : random.lognormal(missMs, 0.3);

/** Windows that would open an anomaly, after a day of baseline. */
function openings(baseline: Draw, now: Draw, windows: number, requests = 30) {
  const tested = new TestedStage();
  tested.run(1.05 * perDay, baseline, requests);
  return tested.run(windows, now, requests).filter(({ opens }) => opens);
}

describe('slowPathOf', () => {
  it('begins half-way between two parts', () => {
    expect(slowPathOf(upTo(twoParts(24)), 30)).toEqual({
      firstBin: 14,
      share: expect.closeTo(0.2, 12),
    });
  });

  it.each([
    ['two parts less than eight times apart', twoParts(23)],
    ['one part', [1, 4, 10, 20, 30, 20, 10, 4, 1]],
    ['an even law', Array.from({ length: 40 }, () => 10)],
    ['too few slow requests', [0, 60, 60, 0, 0, 0, 0, 0, 0, 0, 10, 5]],
    ['fewer fast requests than the fault takes from it', [10, 10, 0, 0, 0, 0, 0, 0, 40, 40]],
    ['no requests', [0, 0, 0]],
  ])('finds none in %s', (_, bins) => {
    expect(slowPathOf(upTo(bins), bins.length)).toBeUndefined();
  });
});

describe('slowPathQuantile', () => {
  it.each([
    [0.05, 0.8],
    [0.2, 0.65],
    [0.4, 0.5],
    [0.5, 0.4],
    [0.7, 0.25],
  ])('of a slow share of %d is %d', (share, q) => {
    expect(slowPathQuantile(share)).toBe(q);
  });
});

describe('ShiftTest, where requests take a slow path or a fast one', () => {
  const hits = (share: number) => cache(() => share);

  it.each<[string, Draw, Draw, number]>([
    ['80 % hits fall to 30 %', hits(0.8), hits(0.3), 0.65],
    ['80 % hits fall to none', hits(0.8), hits(0), 0.65],
    ['80 % hits fall to half', hits(0.8), hits(0.5), 0.65],
    ['95 % hits fall to half', hits(0.95), hits(0.5), 0.95],
    ['60 % hits fall to none', hits(0.6), hits(0), 0.5],
    ['an early exit of half of the requests', early(0.5), early(0), 0.4],
    ['the first of two caches is lost', tiers(0.6), tiers(0), 0.5],
  ])('opens when %s, at a quantile that was fast', (_, baseline, now, q) => {
    const [first] = openings(baseline, now, 5 * perMinute);
    expect(first).toMatchObject({ q, stage: 'total' });
    expect(first?.window).toBeLessThan(2 * perMinute);
    expect(first?.exceedances).toBeGreaterThan(1.2 * (first?.expected ?? 0));
  });

  it('opens when a cache gets cold over ten minutes', () => {
    const begin = 1.05 * perDay;
    const colder = cache((window) => 0.8 * (1 - Math.min(1, (window - begin) / 60)));
    const [first] = openings(hits(0.8), colder, 15 * perMinute);
    expect(first?.window).toBeLessThan(8 * perMinute);
  });

  it('opens at three requests a minute', () => {
    const [first] = openings(hits(0.8), hits(0), 60 * perMinute, 3);
    expect(first?.q).toBe(0.65);
  });

  it.each<[string, Draw, Draw]>([
    ['nothing changes', hits(0.8), hits(0.8)],
    ['more requests hit', hits(0.8), hits(0.97)],
    ['a few fewer hit', hits(0.8), hits(0.76)],
    ['hits take half as long again', hits(0.8), cache(() => 0.8, [6, 180])],
  ])('opens nothing when %s', (_, baseline, now) => {
    expect(openings(baseline, now, 120 * perMinute)).toEqual([]);
  });

  it('opens nothing where the share of hits moves by itself', () => {
    let level = 0;
    let last = 0;
    const moving: Draw = (random, window) => {
      if (window !== last) level = 0.98 * level + Math.sqrt(1 - 0.98 ** 2) * random.normal();
      last = window;
      return hits(1 / (1 + Math.exp(-1.4 - 0.4 * level)))(random, window);
    };
    expect(openings(moving, moving, perDay)).toEqual([]);
  });
});

/** A part of the requests skips half of the work. */
function early(share: number): Draw {
  return (random) =>
    random.chance(share) ? random.lognormal(9, 0.25) : random.lognormal(90, 0.25);
}

/** A part hits the first cache; of the others three quarters hit the second one. */
function tiers(share: number): Draw {
  return (random: Random) => {
    if (random.chance(share)) return random.lognormal(4, 0.2);
    return random.chance(0.75) ? random.lognormal(40, 0.2) : random.lognormal(300, 0.2);
  };
}
