import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayMs, hourMs } from '../../src/base/time.ts';
import { DiurnalProfile } from '../../src/baseline/diurnal-profile.ts';
import { Random } from '../../src/generate/random.ts';
import { TDigest } from '../../src/sketch/t-digest.ts';

const quantiles = [0.5, 0.9, 0.99, 0.999] as const;

/** A daily wave: 1 at midnight, `most` at noon. */
function waveOf(most: number) {
  return (hour: number) => most ** ((1 - Math.cos((2 * Math.PI * hour) / 24)) / 2);
}

/** A thousand requests from 1 to 1000 ms, the slowest tenth multiplied by the given factor. */
function digestOf(tailTimes: number, times = 1): TDigest {
  return TDigest.fromValues(
    Array.from({ length: 1000 }, (_, i) => (i + 1) * times * (i < 900 ? 1 : tailTimes)),
    1000,
  );
}

function learnt(tailAt: (hour: number) => number, hours: Iterable<number>): DiurnalProfile {
  const profile = new DiurnalProfile();
  for (const hour of hours) profile.learn(hour * hourMs, digestOf(tailAt(hour)));
  return profile;
}

const day = Array.from({ length: 24 }, (_, hour) => hour);

describe('DiurnalProfile', () => {
  it('gives the change of a tail from one hour of the day to another, and where it has none', () => {
    const wave = waveOf(4);
    const profile = learnt(wave, day);
    for (const [from, to] of [
      [0, 12],
      [12, 24 + 6],
      [23, 4 * 24 + 5],
    ] as const) {
      const ratios = profile.between(from * hourMs, to * hourMs);
      expect(ratios?.ratioAt(0.99)).toBeCloseTo(wave(to) / wave(from), 9);
      expect(ratios?.ratioAt(0.999)).toBe(ratios?.ratioAt(0.99));
      expect(ratios?.ratioAt(0.5)).toBe(1);
      expect(ratios?.ratioAt(0.1)).toBe(1);
    }
    expect(profile.between(5 * hourMs, 5 * hourMs)).toBeUndefined();
  });

  it('raises a faster baseline to the daily one at its hour, less some slack, and no other', () => {
    // Three days at one level; the hour from three to four o'clock was never known.
    const hours = Array.from({ length: 72 }, (_, hour) => hour).filter((hour) => hour % 24 !== 4);
    const profile = learnt(() => 2, hours);
    const raisedAt = (hour: number, times: number) =>
      profile.raisedToDaily(hour * hourMs, digestOf(2, times));
    const raised = raisedAt(80.5, 0.5);
    for (const q of quantiles) expect(raised?.ratioAt(q)).toBeCloseTo(2 / 1.08, 2);
    expect(raised?.applyTo(digestOf(2, 0.5)).quantile(0.95)).toBeCloseTo(1900 / 1.08, -1);
    for (const times of [0.95, 1, 2]) expect(raisedAt(80.5, times)).toBeUndefined();
    expect(raisedAt(75.5, 0.5)).toBeUndefined();
    // A level that has come on four days is the daily baseline.
    for (let hour = 72; hour < 168; hour++) profile.learn(hour * hourMs, digestOf(2, 0.5));
    expect(raisedAt(174.5, 0.5)).toBeUndefined();
  });

  it('interpolates between two hours', () => {
    const wave = waveOf(4);
    const half = learnt(wave, day)
      .between(6 * hourMs, 7.5 * hourMs)
      ?.ratioAt(0.99);
    expect(half).toBeCloseTo(Math.sqrt(wave(7) * wave(8)) / wave(6), 9);
  });

  it('moves a digest by the change of its quantiles', () => {
    const wave = waveOf(4);
    const ratios = learnt(wave, day).between(0, 12 * hourMs);
    const moved = ratios?.applyTo(digestOf(1));
    const noon = digestOf(4);
    expect(moved?.count).toBe(1000);
    // Right above a point the next one has a part in it.
    for (const q of [0.3, 0.5, 0.75, 0.95, 0.99]) {
      expect(Math.abs((moved?.quantile(q) ?? 0) / noon.quantile(q) - 1)).toBeLessThan(0.02);
    }
  });

  it('needs most hours of a day; others are interpolated', () => {
    const wave = waveOf(4);
    const without = (left: readonly number[]) => day.filter((hour) => !left.includes(hour));
    expect(learnt(wave, without([1, 2, 3, 4, 5])).between(0, 12 * hourMs)).toBeUndefined();
    const profile = learnt(wave, without([5, 6, 7, 23]));
    const ratio = profile.between(0, 6 * hourMs)?.ratioAt(0.99);
    expect(ratio).toBeCloseTo(Math.sqrt(wave(4) * wave(8)), 9);
  });

  it('ignores chance movements', () => {
    let trusted = 0;
    for (let seed = 0; seed < 200; seed++) {
      const random = new Random(`hours ${seed}`);
      // Each hour is correlated with the one before, like a slow swing.
      let level = random.normal();
      const swing = () => {
        level = Math.exp(-1) * level + Math.sqrt(1 - Math.exp(-2)) * random.normal();
        return Math.exp(0.3 * level);
      };
      const profile = learnt(swing, day);
      trusted += profile.between(0, 12 * hourMs) === undefined ? 0 : 1;
    }
    expect(trusted).toBeLessThanOrEqual(4);
  });

  it('finds a morning rush, an evening, and a lunch break', () => {
    const office = (hour: number) => (hour >= 8 && hour < 20 ? (hour === 12 ? 2.5 : 3) : 1);
    const profile = learnt(office, day);
    expect(profile.between(3 * hourMs, 10 * hourMs)?.ratioAt(0.99)).toBeCloseTo(3, 9);
    expect(profile.between(3 * hourMs, 12 * hourMs)?.ratioAt(0.99)).toBeCloseTo(2.5, 9);
  });

  it('weighs the last day half, the one before a quarter', () => {
    const profile = new DiurnalProfile();
    for (const most of [2, 2, 8]) {
      for (const hour of day) profile.learn(hour * hourMs, digestOf(waveOf(most)(hour)));
    }
    expect(profile.between(0, 12 * hourMs)?.ratioAt(0.99)).toBeCloseTo(2 ** (0.5 * 3 + 0.5), 9);
  });

  it('is inverted by the way back, and keeps requests in order', () => {
    const tail = fc.double({ min: 0.2, max: 20, noNaN: true });
    const hour = fc.integer({ min: 0, max: 23 });
    const values = fc.array(fc.double({ min: 0.01, max: 1e5, noNaN: true }), { minLength: 1 });
    fc.assert(
      fc.property(tail, hour, hour, values, (most, from, to, drawn) => {
        const profile = learnt(waveOf(most), day);
        const there = profile.between(from * hourMs, dayMs + to * hourMs);
        const back = profile.between(to * hourMs, from * hourMs);
        const digest = TDigest.fromValues(drawn, 1000);
        const moved = there?.applyTo(digest) ?? digest;
        expect([...moved.weights]).toEqual([...digest.weights]);
        expect([...moved.means]).toEqual([...moved.means].sort((a, b) => a - b));
        for (const q of quantiles) {
          expect((there?.ratioAt(q) ?? 1) * (back?.ratioAt(q) ?? 1)).toBeCloseTo(1, 9);
        }
      }),
      { seed: 20261125, numRuns: 100 },
    );
  });
});
