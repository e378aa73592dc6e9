import { describe, expect, it } from 'vitest';
import { hourMs } from '../../../src/base/time.ts';
import type { HourPair } from '../../../src/baseline/hourly-tails.ts';
import { clearestOf, evaluateDrift } from '../../../src/detect/drift/drift-test.ts';
import { mulberry32, SeededRandom } from '../../base/seeded-random.ts';
import { detectOptions } from '../../scenarios/run-scenario.ts';

const options = detectOptions();
const perWeek = 1e-3;

/** A day with the given factors over the week before, at both quantiles. */
function day(timesOf: (hour: number) => number, requests = 10_000, hours = 24): HourPair[] {
  const random = new SeededRandom(77, mulberry32);
  return Array.from({ length: hours }, (_, hour) => {
    const of = (startMs: number, times: number) => ({
      ...{ startMs, stage: 'total', requests, meansMs: new Map<string, number>() },
      quantilesMs: [100, 200].map((ms) => ms * times * Math.exp(0.02 * random.normal())),
    });
    const startMs = 200 * hourMs + hour * hourMs;
    return { now: of(startMs, timesOf(hour)), baseline: of(startMs - 168 * hourMs, 1) };
  });
}

const evaluate = (
  pairs: readonly HourPair[],
  budget = perWeek,
  between: readonly (readonly HourPair[])[] = [],
) => clearestOf(evaluateDrift(pairs, between, options, budget));
const opens = (pairs: readonly HourPair[]) => evaluate(pairs)?.opens;
/** Pairs of one quantile, by its index. */
const ofQuantile = (pairs: readonly HourPair[], quantile: number) =>
  evaluateDrift(pairs, [], options, perWeek).find((verdict) => verdict.quantile === quantile);

describe('evaluateDrift', () => {
  it('opens on a day of which every hour is slower by the least factor', () => {
    const verdict = evaluate(day(() => 1.4));
    expect(verdict).toMatchObject({ opens: true, hours: 24, slower: 24 });
    expect(verdict?.ratio).toBeCloseTo(1.4, 1);
    expect(verdict?.interval[0]).toBeGreaterThan(1.37);
    expect(verdict?.interval[1]).toBeLessThan(1.43);
    expect(verdict?.startedAtMs).toBe(200 * hourMs);
  });

  it('opens nothing on a smaller change, on no hours, and on a faster day', () => {
    expect(opens(day(() => 1.2))).toBe(false);
    expect(opens(day(() => 1))).toBe(false);
    expect(opens(day(() => 0.5))).toBe(false);
    // A change below the least milliseconds.
    const short = day(() => 1.4).map(({ now, baseline }) => ({
      now: { ...now, quantilesMs: [0.14, 0.28] },
      baseline: { ...baseline, quantilesMs: [0.1, 0.2] },
    }));
    expect(opens(short)).toBe(false);
  });

  it('opens nothing on one slow day among others: the days in between must have been faster', () => {
    const slow = day(() => 1.5);
    // Growth against each of the days from four to six days ago.
    const opensAfter = (...grown: readonly number[]) =>
      evaluate(
        slow,
        perWeek,
        grown.map((times) => day(() => times)),
      )?.opens;
    expect(opensAfter(1.5, 1.5, 1.5)).toBe(true);
    expect(opensAfter(1.5, 1, 1.5)).toBe(false);
    // Half of the least growth, as creeping has: the root of 1.3 is 1.14.
    expect(opensAfter(1.17, 1.17, 1.17)).toBe(true);
    expect(opensAfter(1.17, 1.17, 1.11)).toBe(false);
    // Days with few requests are not required to be faster.
    const hardlyKnown = [day(() => 1, 10_000, 7), day(() => 1, 150)];
    expect(evaluate(slow, perWeek, hardlyKnown)?.opens).toBe(true);
  });

  it('accounts for the autocorrelation of hours in their spread', () => {
    // A mix with a memory of six hours is slower for most of a day by chance, once in a while.
    const wandering = (seed: number) => {
      const random = new SeededRandom(seed, mulberry32);
      let level = 0.4 * random.normal();
      const levels = Array.from({ length: 24 }, () => {
        level = 0.85 * level + 0.2 * random.normal();
        return Math.exp(level);
      });
      return day((hour) => levels[hour] as number);
    };
    const days = Array.from({ length: 2_000 }, (_, seed) => wandering(seed));
    const slow = days.filter((pairs) => (evaluate(pairs)?.ratio ?? 0) > 1.3);
    expect(slow.length).toBeGreaterThan(200);
    // With as many degrees of freedom as hours, 60 such days would open.
    expect(slow.filter((pairs) => opens(pairs)).length).toBe(37);
  });

  it('opens while it creeps in, from the hour with half of the least factor', () => {
    const verdict = evaluate(day((hour) => 1 + 0.03 * hour));
    expect(verdict?.opens).toBe(true);
    expect(verdict?.startedAtMs).toBe(204 * hourMs);
  });

  it('opens nothing on some bad hours, nor on what is over', () => {
    expect(opens(day((hour) => (hour >= 4 && hour < 10 ? 5 : 1)))).toBe(false);
    expect(opens(day((hour) => (hour < 18 ? 1.5 : 1)))).toBe(false);
    expect(opens(day((hour) => (hour < 18 ? 1.5 : 1.45)))).toBe(true);
  });

  it('needs more evidence where hours vary, and still more where they are alike', () => {
    const logPOf = (timesOf: (hour: number) => number) =>
      ofQuantile(day(timesOf), 0)?.logP as number;
    const calm = logPOf(() => 1.4);
    const alternating = logPOf((hour) => 1.4 * (hour % 2 === 0 ? 1.3 : 1 / 1.3));
    const alike = logPOf((hour) => 1.4 * (hour < 12 ? 1.3 : 1 / 1.3));
    expect(calm).toBeLessThan(alternating);
    expect(alternating).toBeLessThan(alike);
    expect(opens(day((hour) => 1.4 * (hour < 12 ? 1.3 : 1 / 1.3)))).toBe(false);
  });

  it('evaluates neither few hours nor quantiles with few requests beyond', () => {
    expect(evaluate(day(() => 2, 10_000, 7))).toBeUndefined();
    expect(opens(day(() => 2, 10_000, 8))).toBe(true);
    expect(evaluate(day(() => 2, 199))).toBeUndefined();
    expect(
      ofQuantile(
        day(() => 2, 200),
        0,
      ),
    ).toBeDefined();
    expect(
      ofQuantile(
        day(() => 2, 999),
        1,
      ),
    ).toBeUndefined();
  });

  it('compares each stage only with itself', () => {
    const others = day(() => 2).map(({ now, baseline }) => ({
      now,
      baseline: { ...baseline, stage: 'x' },
    }));
    expect(evaluate(others)).toBeUndefined();
  });

  it('spends a budget: an anomaly allowed once in a million weeks needs more evidence', () => {
    const pairs = day((hour) => 1.4 * (hour % 2 === 0 ? 1.15 : 1 / 1.15));
    expect(evaluate(pairs, 1e-3)?.opens).toBe(true);
    expect(evaluate(pairs, 1e-30)?.opens).toBe(false);
  });
});
