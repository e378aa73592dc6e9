import { describe, expect, it } from 'vitest';
import { dayMs, hourMs, minuteMs } from '../../../src/base/time.ts';
import { type Episode, expectedEpisode } from '../../../src/baseline/recurrence/recurrence.ts';

/** Ten minutes from the given time, clear at once, with 10 more evidence every minute. */
function episodeAt(startMs: number, changes: Partial<Episode> = {}): Episode {
  const peaksByMinute = Float32Array.from({ length: 20 }, (_, i) => 10 * Math.min(10, i + 1));
  const endMs = startMs + 10 * minuteMs;
  const times = { sinceMs: startMs, startMs, endMs };
  return { ...times, peaksByMinute, peak: 100, shape: [4, 3, 0], isPiece: false, ...changes };
}

/** True where an anomaly of day 7 at six, 10 minutes old, is expected from the past. */
function isExpected(past: readonly Episode[], changes: Partial<Episode> = {}): boolean {
  const current = episodeAt(7 * dayMs + 6 * hourMs, changes);
  return expectedEpisode(past, current, current.startMs + 10 * minuteMs) !== undefined;
}

const atHours = (...hours: readonly number[]) => hours.map((hour) => episodeAt(hour * hourMs));
const onDays = (days: readonly number[], hour = 6) =>
  days.map((day) => episodeAt(day * dayMs + hour * hourMs));

describe('expectedEpisode', () => {
  it('expects an anomaly of one of the last two days, of a week ago, or of two other days', () => {
    expect([6, 5, 4, 3, 2, 1, 0].map((day) => isExpected(onDays([day])))).toEqual([
      ...[true, true],
      ...[false, false, false, false],
      true,
    ]);
    // Monday follows Thursday and Friday.
    expect(isExpected(onDays([3, 4]))).toBe(true);
    // Twice on one day counts as one day.
    expect(isExpected([...onDays([3]), ...onDays([3])])).toBe(false);
    expect(isExpected([episodeAt(-dayMs + 6 * hourMs)])).toBe(false);
  });

  it('expects it five minutes earlier or later than before', () => {
    const isExpectedAt = (minutes: number) =>
      isExpected([episodeAt(6 * dayMs + 6 * hourMs + minutes * minuteMs)]);
    expect([-5, 0, 5].map(isExpectedAt)).toEqual([true, true, true]);
    expect([-5.1, 5.1, 30, 60].map(isExpectedAt)).toEqual([false, false, false, false]);
  });

  it('expects what came on two days an hour later and earlier, unless it has come today', () => {
    for (const hour of [5, 7]) {
      expect(isExpected(onDays([5, 6], hour))).toBe(true);
      expect(isExpected(onDays([2, 4], hour))).toBe(true);
      expect(isExpected(onDays([6], hour))).toBe(false);
      expect(isExpected(onDays([0], hour))).toBe(false);
    }
    expect(isExpected(onDays([5, 6], 4))).toBe(false);
    expect(isExpected(onDays([5, 6], 5.5))).toBe(false);
    expect(isExpected(onDays([5, 6, 7], 5))).toBe(false);
    // An anomaly of another fault today is not the job.
    const other = episodeAt(7 * dayMs + 5 * hourMs, { shape: [0, 0, 1] });
    expect(isExpected([...onDays([5, 6], 5), other])).toBe(true);
    // An anomaly of a moment ago does not make it a recurrence.
    expect(isExpected(atHours(7 * 24 + 5.97))).toBe(false);
  });

  it('requires a similar shape from two minutes on', () => {
    const isExpectedAfter = (seconds: number, shape: readonly number[]) => {
      const current = episodeAt(7 * dayMs, { shape });
      const nowMs = current.startMs + seconds * 1000;
      return expectedEpisode(onDays([6], 0), current, nowMs) !== undefined;
    };
    expect(isExpectedAfter(110, [0, 0, 1])).toBe(true);
    expect(isExpectedAfter(120, [0, 0, 1])).toBe(false);
    // The cosine is 0.8, and 0.79.
    expect(isExpectedAfter(120, [5, 0, 0])).toBe(true);
    expect(isExpectedAfter(120, [4.95, 0, 0.8])).toBe(false);
    // An unknown shape, of today or of the past, matches all.
    expect(isExpectedAfter(120, [])).toBe(true);
    expect(isExpected([episodeAt(6 * dayMs + 6 * hourMs, { shape: [] })])).toBe(true);
    // All faults count, however many there are.
    const long = (last: number) => [...new Array<number>(16).fill(0), last];
    const past = [episodeAt(6 * dayMs + 6 * hourMs, { shape: long(1) })];
    expect(isExpected(past, { shape: long(2) })).toBe(true);
    expect(isExpected(past, { shape: [1] })).toBe(false);
  });

  it('compares how clear it is at the same age, five minutes and an unfinished one apart', () => {
    const expectedAfter = (minutes: number, peak: number, laterMinutes = 0) => {
      const current = episodeAt(7 * dayMs + laterMinutes * minuteMs, { peak });
      return expectedEpisode(onDays([6], 0), current, current.startMs + minutes * minuteMs);
    };
    // In the first minutes none can be far weaker: the other may have started five minutes earlier.
    expect([0, 1, 5.9].map((minutes) => expectedAfter(minutes, 1)?.peak)).toEqual([60, 70, 100]);
    // The evidence was certainly 10 after six minutes, 30 after eight: a third is enough.
    expect(expectedAfter(6, 10 / 3 + 0.01)?.peak).toBe(100);
    expect(expectedAfter(6, 10 / 3 - 0.01)).toBeUndefined();
    expect(expectedAfter(8, 10.01)?.peak).toBe(100);
    expect(expectedAfter(8, 9.99)).toBeUndefined();
    // Started two minutes later it is as old as the other was then.
    expect(expectedAfter(6, 10.01, 2)?.peak).toBe(100);
    expect(expectedAfter(6, 9.99, 2)).toBeUndefined();
    expect(expectedAfter(0, 1, -2)?.peak).toBe(40);
  });

  it('does not count a long anomaly as far weaker than the end of a longer one', () => {
    const peaksByMinute = Float32Array.from({ length: 20 }, (_, i) => 10 * (i + 1));
    peaksByMinute[19] = 1000;
    const past = [episodeAt(6 * dayMs, { peaksByMinute, peak: 1000, endMs: 6 * dayMs + hourMs })];
    const expectedWith = (peak: number) => {
      const current = episodeAt(7 * dayMs, { peak });
      return expectedEpisode(past, current, current.startMs + 40 * minuteMs);
    };
    // The evidence was 190 after the first 19 minutes.
    expect(expectedWith(64)?.peak).toBe(1000);
    expect(expectedWith(63)).toBeUndefined();
  });

  it('expects it to last as long as the longest of them, an hour at most, and five minutes', () => {
    const minutesExpected = (...lasted: readonly number[]) => {
      const past = lasted.map((minutes, i) => {
        const startMs = (6 - i) * dayMs;
        return episodeAt(startMs, { endMs: startMs + minutes * minuteMs });
      });
      const current = episodeAt(7 * dayMs);
      const endMs = expectedEpisode(past, current, current.startMs)?.endMs ?? Number.NaN;
      return (endMs - current.startMs) / minuteMs;
    };
    expect(minutesExpected(10)).toBe(15);
    expect(minutesExpected(10, 30)).toBe(35);
    expect(minutesExpected(300)).toBe(65);
  });
});
