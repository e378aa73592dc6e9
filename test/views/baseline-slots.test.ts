import { describe, expect, it } from 'vitest';
import { baselineSlots, slotOf } from '../../src/views/baseline-slots.ts';

const hour = 3_600;
const day = 24 * hour;
const midnight = Date.UTC(2026, 10, 1) / 1000;
const rangeOf = (from: number, to: number, stepSeconds: number) =>
  baselineSlots({
    ...{ fromSeconds: midnight + from, toSeconds: midnight + to },
    ...{ stepSeconds, resolution: '1m' },
  });

describe('the baseline of a range', () => {
  it('is of the same hours on the seven days before', () => {
    expect(rangeOf(10.5 * hour, 16.5 * hour, 120)).toEqual({
      slotSeconds: hour,
      firstSlot: 10 * hour,
      slots: 7,
      baselineFromSeconds: midnight + 10 * hour - 7 * day,
      baselineToSeconds: midnight + 10 * hour,
    });
  });

  it('goes on past midnight', () => {
    const slots = rangeOf(22 * hour, 26 * hour, 60);
    expect(slots).toMatchObject({ firstSlot: 22 * hour, slots: 4 });
    expect(slotOf(midnight + 25.5 * hour, slots)).toBe(hour);
  });

  it('of a day or more is of all hours', () => {
    expect(rangeOf(hour, 7 * day, hour)).toMatchObject({ slotSeconds: hour, slots: 24 });
    expect(rangeOf(0, 7 * day, 3 * hour)).toMatchObject({ slotSeconds: 3 * hour, slots: 8 });
    expect(rangeOf(0, 99 * day, 2 * day)).toMatchObject({ slotSeconds: day, slots: 1 });
  });

  it.each([70, 5 * hour, 7 * hour, 13 * hour])(
    'of steps of %i s has parts that fill a day',
    (step) => {
      expect(day % rangeOf(0, 2 * day, step).slotSeconds).toBe(0);
    },
  );

  it('begins no earlier than 1970', () => {
    const range = {
      fromSeconds: day,
      toSeconds: 2 * day,
      stepSeconds: hour,
      resolution: '1h',
    } as const;
    expect(baselineSlots(range)).toMatchObject({ baselineFromSeconds: 0, baselineToSeconds: day });
  });
});
