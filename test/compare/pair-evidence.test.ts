import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PairEvidence } from '../../src/compare/pair-evidence.ts';
import { binomialCounts } from '../../src/compare/thinned-counts.ts';

/** Probabilities of so many successes, by recursion from none. */
function binomial(n: number, p: number): number[] {
  const all = [(1 - p) ** n];
  for (let k = 0; k < n; k++) all.push(((all[k] as number) * (n - k) * p) / ((k + 1) * (1 - p)));
  return all;
}

interface Version {
  readonly requests: number;
  readonly share: number;
}

/** Mean of what one minute multiplies the evidence by, over all of its outcomes. */
function meanPayment(first: Version, second: Version): number {
  let mean = 0;
  for (const [a, pa] of binomial(first.requests, first.share).entries()) {
    for (const [b, pb] of binomial(second.requests, second.share).entries()) {
      if (pa * pb < 1e-12) continue;
      const evidence = new PairEvidence();
      evidence.observe(
        { slow: a, requests: first.requests },
        { slow: b, requests: second.requests },
      );
      mean += pa * pb * Math.exp(evidence.log);
    }
  }
  return mean;
}

describe('evidence', () => {
  it('is 1 before any minute, and after one without requests', () => {
    const evidence = new PairEvidence();
    expect(evidence.log).toBe(0);
    evidence.observe({ slow: 0, requests: 0 }, { slow: 3, requests: 100 });
    evidence.observe({ slow: 0, requests: 50 }, { slow: 0, requests: 50 });
    expect(evidence.log).toBe(0);
  });

  it.each([
    [
      { requests: 40, share: 0.1 },
      { requests: 40, share: 0.1 },
    ],
    [
      { requests: 40, share: 0.02 },
      { requests: 40, share: 0.02 },
    ],
    [
      { requests: 12, share: 0.2 },
      { requests: 60, share: 0.2 },
    ],
    [
      { requests: 60, share: 0.2 },
      { requests: 12, share: 0.2 },
    ],
    [
      { requests: 37, share: 0.6 },
      { requests: 41, share: 0.6 },
    ],
  ])('of equal versions is 1 on average: %j, %j', (first, second) => {
    expect(meanPayment(first, second)).toBeCloseTo(1, 6);
  });

  it('is 1 on average also where minutes vary, whatever by', () => {
    // The share of either version is one of two, as likely as the other.
    const shares = [0.02, 0.5];
    const means = shares.flatMap((a) =>
      shares.map((b) => meanPayment({ requests: 30, share: a }, { requests: 50, share: b })),
    );
    expect(means.reduce((sum, mean) => sum + mean, 0) / means.length).toBeCloseTo(1, 6);
    expect(Math.max(...means)).toBeGreaterThan(1.5);
  });

  it('of a version that is faster is less than 1 on average', () => {
    expect(meanPayment({ requests: 30, share: 0.1 }, { requests: 30, share: 0.2 })).toBeLessThan(
      0.95,
    );
    expect(meanPayment({ requests: 12, share: 0.1 }, { requests: 60, share: 0.2 })).toBeLessThan(
      0.95,
    );
  });

  it('at most doubles by the minute', () => {
    const evidence = new PairEvidence();
    for (let minute = 1; minute <= 10; minute++) {
      evidence.observe({ slow: 1e6, requests: 1e6 }, { slow: 0, requests: 1e6 });
      expect(evidence.log).toBeLessThanOrEqual(minute * Math.LN2 + 1e-12);
    }
    expect(evidence.log).toBeGreaterThan(9.9 * Math.LN2);
  });

  it('grows with the slow requests of the first, and falls with those of the second', () => {
    const log = (a: number, b: number, n: number, credit: number) => {
      const evidence = new PairEvidence();
      evidence.observe(
        { slow: a, requests: n },
        { slow: b, requests: n },
        binomialCounts(n, credit),
      );
      return evidence.log;
    };
    const numbers = fc.integer({ min: 2, max: 5_000 }).chain((n) =>
      fc.record({
        n: fc.constant(n),
        a: fc.double({ min: 0, max: n - 1, noNaN: true }),
        b: fc.double({ min: 0, max: n - 1, noNaN: true }),
        more: fc.double({ min: 0, max: 1, noNaN: true }),
        credit: fc.double({ min: 0, max: 0.2, noNaN: true }),
      }),
    );
    fc.assert(
      fc.property(numbers, ({ n, a, b, more, credit }) => {
        expect(log(a + more, b, n, credit)).toBeGreaterThanOrEqual(log(a, b, n, credit) - 1e-9);
        expect(log(a, b + more, n, credit)).toBeLessThanOrEqual(log(a, b, n, credit) + 1e-9);
      }),
      { seed: 1, numRuns: 2_000 },
    );
  });

  it('with the versions swapped pays what is missing to 2, for each bet', () => {
    // With counts so far apart that all bets pay alike.
    const [there, back] = [new PairEvidence(), new PairEvidence()];
    there.observe({ slow: 5, requests: 100 }, { slow: 4, requests: 100 });
    back.observe({ slow: 4, requests: 100 }, { slow: 5, requests: 100 });
    expect(Math.exp(there.log) + Math.exp(back.log)).toBeCloseTo(2, 12);
  });
});
