import { describe, expect, it } from 'vitest';
import { mostSteps, stepsOf, timeRange } from '../../src/views/time-range.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const nowMs = Date.UTC(2026, 10, 1, 12, 34, 56, 789);
const retention = { '10s': 3 * day, '1m': 14 * day, '1h': 180 * day, '1d': 1_825 * day };

const rangeOf = (fromMs: number, toMs: number, more: object = {}) =>
  timeRange({ fromMs, toMs, nowMs, retention, wishedSteps: 300, ...more });
const ago = (ms: number, more: object = {}) => rangeOf(nowMs - ms, nowMs, more);

describe('a range', () => {
  it.each([
    ['5 minutes', 5 * minute, 10, '10s'],
    ['15 minutes', 15 * minute, 10, '10s'],
    ['an hour', hour, 60, '1m'],
    ['6 hours', 6 * hour, 120, '1m'],
    ['24 hours', day, 300, '1m'],
    ['7 days', 7 * day, 3_600, '1h'],
    ['30 days', 30 * day, 10_800, '1h'],
    ['a year', 365 * day, 172_800, '1d'],
    ['10 years', 3_650 * day, 13 * 86_400, '1d'],
  ])('of %s has plain steps of whole windows', (_, lengthMs, stepSeconds, resolution) => {
    const range = ago(lengthMs);
    expect(range).toMatchObject({ stepSeconds, resolution });
    expect(stepsOf(range)).toBeLessThanOrEqual(302);
    expect(Number.isInteger(stepsOf(range))).toBe(true);
  });

  it('is widened to whole steps, and never cut', () => {
    const range = ago(6 * hour);
    expect(range.fromSeconds * 1000).toBeLessThanOrEqual(nowMs - 6 * hour);
    expect(range.toSeconds * 1000).toBeGreaterThanOrEqual(nowMs);
    expect([range.fromSeconds % 120, range.toSeconds % 120]).toEqual([0, 0]);
    expect(rangeOf(7_200_000, 14_400_000)).toMatchObject({ fromSeconds: 0, toSeconds: 86_400 });
  });

  it('that moves with the clock has the steps of the same range by absolute times', () => {
    for (const lengthMs of [5 * minute, 15 * minute, hour, 6 * hour, day, 7 * day]) {
      const moving = ago(lengthMs, { isRelative: true });
      expect(moving.toSeconds - moving.fromSeconds).toBe(lengthMs / 1000);
      expect(rangeOf(moving.fromSeconds * 1000, moving.toSeconds * 1000)).toEqual(moving);
    }
  });

  it('of a time whose fine windows are gone is read from coarser ones', () => {
    const at = (agoMs: number) => rangeOf(nowMs - agoMs, nowMs - agoMs + 10 * minute);
    expect(at(2 * day)).toMatchObject({ stepSeconds: 10, resolution: '10s' });
    expect(at(4 * day)).toMatchObject({ stepSeconds: 60, resolution: '1m' });
    expect(at(20 * day)).toMatchObject({ stepSeconds: 3_600, resolution: '1h' });
    expect(at(200 * day)).toMatchObject({ stepSeconds: 86_400, resolution: '1d' });
    expect(at(20_000 * day)).toMatchObject({ stepSeconds: 86_400, resolution: '1d' });
  });

  it('with a given step has it, in whole windows that are kept', () => {
    expect(ago(hour, { stepSeconds: 10 })).toMatchObject({ stepSeconds: 10, resolution: '10s' });
    expect(ago(hour, { stepSeconds: 600 })).toMatchObject({ stepSeconds: 600, resolution: '1m' });
    expect(ago(5 * day, { stepSeconds: 70 })).toMatchObject({ stepSeconds: 120, resolution: '1m' });
    expect(ago(5 * hour, { stepSeconds: 70 })).toMatchObject({
      stepSeconds: 70,
      resolution: '10s',
    });
    expect(stepsOf(ago(mostSteps * 10_000, { stepSeconds: 10 }))).toBeLessThanOrEqual(
      mostSteps + 1,
    );
  });

  it('of windows that are all kept for ever so long still has a table', () => {
    const short = { '10s': hour, '1m': hour, '1h': hour, '1d': hour };
    expect(ago(2 * hour, { retention: short })).toMatchObject({ resolution: '1d' });
  });
});
