import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CensoredDigest } from '../../src/sketch/censored-digest.ts';
import { stateCentroids } from '../../src/sketch/sketch-pool.ts';
import { TDigest } from '../../src/sketch/t-digest.ts';
import { mulberry32, SeededRandom } from '../base/seeded-random.ts';
import { kaplanMeier, leastQuantile, type Observed } from './kaplan-meier.ts';
import { poolDigest } from './pool-digest.ts';

const quantiles = [0.1, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999];
const allOf = (observed: readonly Observed[]) => observed.map(({ ms }) => ms);
const censoredOf = (observed: readonly Observed[]) =>
  allOf(observed.filter(({ isCensored }) => isCensored));

const endedOf = (observed: readonly Observed[]) =>
  allOf(observed.filter(({ isCensored }) => !isCensored));

/** Digests of few values, each a centroid of its own; `isMixed`: as rows from before migration 0026 have them. */
function exactOf(observed: readonly Observed[], isMixed = false): CensoredDigest {
  const censored = TDigest.fromValues(censoredOf(observed), 1_000);
  const among = (isMixed ? allOf : endedOf)(observed);
  return new CensoredDigest(
    TDigest.fromValues(among, 1_000),
    censored,
    isMixed ? censored : undefined,
  );
}

/** Requests of a lognormal law, of which some are given up: at a time limit, or by chance. */
function requests(count: number, seed: number, limitMs: number, cancelledShare = 0): Observed[] {
  const random = new SeededRandom(seed, mulberry32);
  return Array.from({ length: count }, () => {
    const ms = Math.round(2_000 * Math.exp(0.8 * random.normal()));
    const isImpatient = random.chance(cancelledShare);
    const patienceMs = isImpatient ? Math.min(limitMs, random.between(100, 20_000)) : limitMs;
    return { ms: Math.min(ms, patienceMs), isCensored: ms > patienceMs };
  });
}

describe('few requests', () => {
  const request = fc.record({
    ms: fc.integer({ min: 1, max: 40 }),
    isCensored: fc.boolean(),
  });
  const requestsOf = fc.array(request, { minLength: 1, maxLength: 60 });

  it('have the quantiles of the textbook, and bounds where it has none', () => {
    fc.assert(
      fc.property(requestsOf, fc.boolean(), (observed, isMixed) => {
        const digest = exactOf(observed, isMixed);
        for (const q of quantiles) {
          const reference = kaplanMeier(observed, q);
          const { ms, isAtLeast } = digest.quantile(q);
          expect({ q, isAtLeast }).toEqual({ q, isAtLeast: reference === undefined });
          if (reference !== undefined) {
            expect({ q, ms }).toEqual({ q, ms: reference });
          } else {
            const finished = observed.filter(({ isCensored }) => !isCensored);
            const longest = Math.max(0, ...allOf(finished));
            expect({ q, ms }).toEqual({ q, ms: Math.max(longest, leastQuantile(observed, q)) });
          }
        }
      }),
    );
  });

  it('have quantiles that never fall from one level to the next, and never below that of all durations', () => {
    fc.assert(
      fc.property(requestsOf, fc.boolean(), (observed, isMixed) => {
        const digest = exactOf(observed, isMixed);
        let last = 0;
        for (const q of quantiles) {
          const { ms } = digest.quantile(q);
          expect(ms).toBeGreaterThanOrEqual(Math.max(last, leastQuantile(observed, q)));
          last = ms;
        }
      }),
    );
  });

  it('without one that was given up have the quantiles of their digest', () => {
    const values = [3, 5, 8, 13, 21];
    const digest = exactOf(values.map((ms) => ({ ms, isCensored: false })));
    const plain = TDigest.fromValues(values);
    for (const q of quantiles) {
      expect(digest.quantile(q)).toEqual({ ms: plain.quantile(q), isAtLeast: false });
    }
  });

  it('that were all given up have bounds alone, and no request has no quantile', () => {
    const all = [4, 7].map((ms) => ({ ms, isCensored: true }));
    expect(exactOf(all).quantile(0.5)).toEqual({ ms: 4, isAtLeast: true });
    expect(exactOf(all).quantile(0.9)).toEqual({ ms: 7, isAtLeast: true });
    expect(exactOf([]).quantile(0.5)).toEqual({ ms: Number.NaN, isAtLeast: false });
  });
});

/** Digests of windows as they were stored before migration 0026, merged in the order given. */
function storedOf(windows: readonly (readonly Observed[])[]): CensoredDigest {
  const all = windows.map((window, i) => poolDigest(allOf(window), phaseOf(i)));
  // Of full precision, as they are stored.
  const censored = windows.map((window) => TDigest.fromValues(censoredOf(window), stateCentroids));
  const given = TDigest.merge(censored, 500);
  return new CensoredDigest(TDigest.merge(all, 500), given, given);
}

const phaseOf = (window: number) => 1 - ((window * 0.618) % 1);

describe('1,000 finished requests and 1 % of time-outs at 120 s', () => {
  const finished = requests(1_000, 3, Number.POSITIVE_INFINITY);
  const given = Array.from({ length: 10 }, () => ({ ms: 120_000, isCensored: true }));
  const observed = [...finished, ...given];

  it('have no p99.9 of 120 s as a duration: it is at least 120 s', () => {
    expect(kaplanMeier(observed, 0.999)).toBeUndefined();
    const digest = storedOf([observed]);
    expect(digest.quantile(0.999)).toEqual({ ms: 120_000, isAtLeast: true });
    expect(TDigest.merge([poolDigest(allOf(observed))]).quantile(0.999)).toBeGreaterThan(119_000);
  });

  it('have the quantiles below it of all durations, finished ones', () => {
    const digest = storedOf([observed]);
    for (const q of [0.5, 0.9, 0.95, 0.98]) {
      expect(digest.quantile(q).isAtLeast).toBe(false);
      expectWithin(digest, observed, q);
    }
  });
});

describe('windows from before migration 0026, merged in any order', () => {
  it('have the quantiles of the textbook on raw requests, within 1 % of the value or 5 % of the tail', () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.constantFrom(5_000, 12_000, 120_000),
        fc.constantFrom(0, 0.02, 0.3),
        (seed, limitMs, cancelledShare) => {
          const observed = requests(12_000, seed, limitMs, cancelledShare);
          const windows = Array.from({ length: 40 }, (_, i) =>
            observed.filter((_, n) => n % 40 === i),
          );
          const random = new SeededRandom(seed, mulberry32);
          const shuffled = windows
            .map((window) => ({ window, at: random.unit() }))
            .toSorted((a, b) => a.at - b.at)
            .map(({ window }) => window);
          for (const digest of [storedOf(windows), storedOf(shuffled)]) {
            for (const q of [0.5, 0.75, 0.9, 0.95, 0.99]) expectWithin(digest, observed, q);
          }
        },
      ),
      { numRuns: 25 },
    );
  });
});

/** A value within 1 %, or a rank within 5 % of the tail; at the edge of what is known, a bound of either kind. */
function expectWithin(digest: CensoredDigest, observed: readonly Observed[], q: number): void {
  const { ms, isAtLeast } = digest.quantile(q);
  const slack = 0.05 * (1 - q);
  const [early, late] = [kaplanMeier(observed, q - slack), kaplanMeier(observed, q + slack)];
  const exact = kaplanMeier(observed, q);
  if (isAtLeast) {
    expect(late, `p${100 * q} is known`).toBeUndefined();
    expect(ms).toBeGreaterThanOrEqual(0.99 * leastQuantile(observed, q));
    return;
  }
  expect(early, `p${100 * q} is not known, and is not ${ms}`).toBeDefined();
  if (exact !== undefined && Math.abs(ms / exact - 1) <= 0.01) return;
  expect(ms, `p${100 * q} of ${exact}`).toBeGreaterThanOrEqual(0.99 * (early as number));
  expect(ms, `p${100 * q} of ${exact}`).toBeLessThanOrEqual(
    1.01 * (late ?? Number.POSITIVE_INFINITY),
  );
}
