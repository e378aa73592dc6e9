import { describe, expect, it } from 'vitest';
import { completeEnd, requestRate } from '../../../src/views/models/request-rate.ts';
import type { TimeRange } from '../../../src/views/time-range.ts';

/** Six hours of steps of 10 minutes, from minutes. */
const sixHours: TimeRange = {
  ...{ fromSeconds: 0, toSeconds: 21_600, stepSeconds: 600, resolution: '1m' },
};
const minute = 60;

describe('the rate of a model', () => {
  it('is of the time that has data: 190 a second for half an hour are 190 in six hours', () => {
    // The first minute is half full, as the traffic begins within it; the newest one is not complete.
    const firstSeconds = 19_440;
    const byStep = new Map([
      [19_200, 190 * (30 + 300)],
      [19_800, 190 * 600],
      [20_400, 190 * 600],
      [21_000, 190 * 240],
    ]);
    const endSeconds = completeEnd(sixHours, minute, 21_299_000);
    expect(endSeconds).toBe(21_240);
    const counted = { hasBefore: false, firstSeconds, firstRequests: 190 * 30, byStep };
    const { perSecond, steps } = requestRate(counted, sixHours, {
      windowSeconds: minute,
      endSeconds,
    });
    expect(perSecond).toBe(190);
    expect(steps.slice(-5)).toEqual([null, 190, 190, 190, 190]);
    expect(new Set(steps.slice(0, -4))).toEqual(new Set([null]));
  });

  it('of a model that was there before is of the whole range, also where it rests', () => {
    const byStep = new Map([[600, 600]]);
    const counted = { hasBefore: true, firstSeconds: 900, firstRequests: 5, byStep };
    const { perSecond, steps } = requestRate(counted, sixHours, {
      ...{ windowSeconds: minute, endSeconds: 21_600 },
    });
    expect(perSecond).toBe(600 / 21_600);
    expect(steps.slice(0, 3)).toEqual([0, 1, 0]);
  });

  it('of one window is that of its window', () => {
    const counted = {
      ...{ hasBefore: false, firstSeconds: 21_540, firstRequests: 120, byStep: new Map() },
    };
    const rate = requestRate(counted, sixHours, { windowSeconds: minute, endSeconds: 21_600 });
    expect([rate.perSecond, new Set(rate.steps)]).toEqual([2, new Set([null])]);
  });

  it('is of the whole range where nothing is complete', () => {
    expect(completeEnd(sixHours, minute, Number.NEGATIVE_INFINITY)).toBe(21_600);
  });
});
