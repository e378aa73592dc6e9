import { describe, expect, it } from 'vitest';
import { daySeconds, hourSeconds } from '../../../src/base/time.ts';
import { sameTimeEarlier } from '../../../src/views/lengths/lengths.ts';
import type { TimeRange } from '../../../src/views/time-range.ts';

const nowSeconds = 1_790_000_000 - (1_790_000_000 % daySeconds);
const days = (count: number) => count * daySeconds * 1000;
const retention = { '10s': days(3), '1m': days(14), '1h': days(90), '1d': days(900) };
const context = { nowMs: nowSeconds * 1000, firstMs: 0, retention };

function rangeOf(fromAgo: number, toAgo: number, resolution: TimeRange['resolution']): TimeRange {
  const [fromSeconds, toSeconds] = [nowSeconds - fromAgo, nowSeconds - toAgo];
  return { fromSeconds, toSeconds, stepSeconds: toSeconds - fromSeconds, resolution };
}
const earlierOf = (range: TimeRange, more: Partial<typeof context> = {}) =>
  sameTimeEarlier(range, { ...context, ...more });

describe('the same time earlier', () => {
  it('is a week before, then a day before, as long as the range', () => {
    expect(earlierOf(rangeOf(6 * hourSeconds, 0, '1m'))).toEqual([
      {
        name: 'a week earlier',
        range: rangeOf(7 * daySeconds + 6 * hourSeconds, 7 * daySeconds, '1m'),
      },
      { name: 'a day earlier', range: rangeOf(daySeconds + 6 * hourSeconds, daySeconds, '1m') },
    ]);
  });

  it('is read of windows that are kept, widened to whole ones', () => {
    const [week, day] = earlierOf(rangeOf(610, 10, '10s'));
    expect(week?.range).toEqual(rangeOf(7 * daySeconds + 660, 7 * daySeconds, '1m'));
    expect(day?.range).toEqual(rangeOf(daySeconds + 610, daySeconds + 10, '10s'));
    const [old] = earlierOf(rangeOf(10 * daySeconds + 1_800, 10 * daySeconds, '1m'));
    expect(old?.range).toEqual(rangeOf(17 * daySeconds + hourSeconds, 17 * daySeconds, '1h'));
  });

  it('lies before the range, and is stored', () => {
    const names = (range: TimeRange, firstAgo = 100 * daySeconds) =>
      earlierOf(range, { firstMs: (nowSeconds - firstAgo) * 1000 }).map(({ name }) => name);
    const [hour, threeDays] = [rangeOf(hourSeconds, 0, '1m'), rangeOf(3 * daySeconds, 0, '1h')];
    expect(names(threeDays)).toEqual(['a week earlier']);
    expect(names(rangeOf(8 * daySeconds, 0, '1h'))).toEqual([]);
    expect(names(hour, 2 * daySeconds)).toEqual(['a day earlier']);
    expect(names(hour, hourSeconds)).toEqual([]);
    expect(sameTimeEarlier(hour, { ...context, firstMs: undefined })).toEqual([]);
  });
});
