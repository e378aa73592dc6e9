import { describe, expect, it } from 'vitest';
import {
  drawRequests,
  errorsOf,
  fiveLimits,
  kindsOfRequests,
  mergedRows,
  oneLimit,
  type QuantileError,
  rowsOf,
} from './time-limits.ts';

// Requests that are given up at one time limit or at several, as they are stored and merged.
// `npm run bench -- given-up` prints the errors.

const seeds = [1, 2, 3, 4];
/** Rows that are merged, and the requests of each. */
const merges = [
  [1, 3_000],
  [6, 1_000],
  [360, 100],
] as const;

const cases = kindsOfRequests.flatMap((kind) =>
  [oneLimit, fiveLimits].flatMap((limits) => [0.01, 0.1].map((share) => ({ kind, limits, share }))),
);

function found(of: (typeof cases)[0], rows: number, each: number, isMixed = false) {
  return seeds.flatMap((seed) => {
    const observed = drawRequests({ ...of, count: rows * each }, seed);
    return errorsOf(observed, mergedRows(rowsOf(observed, rows), isMixed));
  });
}

const worst = (errors: readonly QuantileError[], of: 'value' | 'rank') =>
  Math.max(0, ...errors.map((error) => error[of]));

describe.each(cases)('$kind, $share given up at $limits ms', (of) => {
  it.each(merges)('%i rows of %i requests have the percentiles of the textbook', (rows, each) => {
    const errors = found(of, rows, each);
    expect(errors.filter(({ isOtherKind }) => isOtherKind)).toEqual([]);
    // A value is within 1 %, or its rank within 6 % of the tail. A bound is at most a bucket off.
    expect(worst(errors, 'rank')).toBeLessThanOrEqual(0.06);
    expect(
      worst(
        errors.filter(({ isBound }) => isBound),
        'value',
      ),
    ).toBeLessThanOrEqual(1 / 64);
    expect(worst(errors, 'value')).toBeLessThan(0.1);
  });
});

describe('the measure finds what subtraction gets wrong', () => {
  it('values by a tenth and more', () => {
    const long = found({ kind: 'hang, long', limits: fiveLimits, share: 0.1 }, 360, 100, true);
    expect(worst(long, 'value')).toBeGreaterThan(0.1);
  });

  it('ranks by a third of the tail', () => {
    const long = found({ kind: 'hang, long', limits: oneLimit, share: 0.1 }, 360, 100, true);
    expect(worst(long, 'rank')).toBeGreaterThan(0.3);
  });

  it('bounds, by several limits', () => {
    const short = found({ kind: 'hang, short', limits: fiveLimits, share: 0.1 }, 360, 100, true);
    expect(worst(short, 'value')).toBeGreaterThan(1);
  });
});
