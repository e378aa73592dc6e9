import { describe, expect, it } from 'vitest';
import { dayMs, hourMs } from '../../../src/base/time.ts';
import { DailyRecurrence } from '../../../src/baseline/recurrence/daily-recurrence.ts';

const windowMs = 10_000;

/** Ten minutes of evidence that rises to a peak, then seven of none. */
function burst(
  episodes: DailyRecurrence,
  fromMs: number,
  peak: number,
  varianceInflation = 1,
  kind: readonly number[] = [],
): number[] {
  const levels: number[] = [];
  for (let i = 0; i < 100; i++) {
    const evidence = i < 60 ? (peak * (i + 1)) / 60 : 0;
    episodes.observe(fromMs + i * windowMs, evidence, varianceInflation, fromMs, kind);
    if (i < 60) levels.push(episodes.threshold(fromMs + i * windowMs, varianceInflation));
  }
  return levels;
}

describe('DailyEpisodes', () => {
  it('asks for twice as much when as much came at the same time the day before', () => {
    const episodes = new DailyRecurrence();
    expect(Math.max(...burst(episodes, 6 * hourMs, 90))).toBe(0);
    const levels = burst(episodes, dayMs + 6 * hourMs + 60_000, 95);
    // Below 12 nothing is open; from then on no score of the day comes near.
    expect(levels.findIndex((level) => level > 0)).toBe(7);
    for (const [i, level] of levels.slice(7).entries()) {
      expect(level).toBeGreaterThan((95 * (i + 8)) / 60);
    }
    expect(levels.at(-1)).toBe(180);
  });

  it('asks for no more at another time, of what is far less, or three days later', () => {
    const later = (days: number, ms: number, peak: number, before = 90) => {
      const episodes = new DailyRecurrence();
      burst(episodes, 6 * hourMs, before);
      return Math.max(...burst(episodes, days * dayMs + 6 * hourMs + ms, peak).slice(-20));
    };
    // It is clear after 70 s, both times.
    expect(later(1, 7 * 60_000, 90)).toBe(0);
    expect(later(1, -7 * 60_000, 90)).toBe(0);
    expect(later(1, 6 * 60_000, 90)).toBe(180);
    // The other one had not reached its peak by then.
    expect(later(1, -6 * 60_000, 90)).toBe(165);
    expect(later(1, 0, 15, 300)).toBe(0);
    expect(later(2, 0, 90)).toBe(180);
    expect(later(3, 0, 90)).toBe(0);
  });

  it('expects the third of a job of any period, where a job is short against it', () => {
    /** Levels at the ends of bursts of ten minutes of evidence, a period apart. */
    const levelsOf = (periodMs: number, peaks: readonly number[] = [90, 90, 90, 90]) => {
      const episodes = new DailyRecurrence();
      return peaks.map((peak, n) => burst(episodes, 6 * hourMs + n * periodMs, peak).at(-1));
    };
    for (const hours of [1, 2, 5, 11]) expect(levelsOf(hours * hourMs)).toEqual([0, 0, 180, 180]);
    // Ten minutes are more than a third of it: that may as well be a leak that grows until a restart.
    expect(levelsOf(25 * 60_000)).toEqual([0, 0, 0, 0]);
    // One of twice the strength is still new, and two far apart by chance are no period.
    expect(levelsOf(hourMs, [90, 90, 300])).toEqual([0, 0, 180]);
    const episodes = new DailyRecurrence();
    const at = (hours: number) => burst(episodes, hours * hourMs, 90).at(-1);
    expect([6, 7, 9.5, 11].map(at)).toEqual([0, 0, 0, 0]);
  });

  it('goes by the scores of requests: the same is clearer for a series known to be calm', () => {
    const episodes = new DailyRecurrence();
    burst(episodes, 6 * hourMs, 30, 4);
    expect(burst(episodes, dayMs + 6 * hourMs, 120).at(-1)).toBe(240);
    expect(burst(episodes, 2 * dayMs + 6 * hourMs, 60, 2).at(-1)).toBe(120);
  });

  it('recognizes an anomaly that was clear only after minutes in a young series, five of them at most', () => {
    const levelAfter = (unclearMinutes: number) => {
      const episodes = new DailyRecurrence();
      const clearMs = 6 * hourMs + unclearMinutes * 60_000;
      for (let i = 0; i < 100; i++) {
        episodes.observe(clearMs + i * windowMs, i < 30 ? 20 : 0, 5, 6 * hourMs);
      }
      return burst(episodes, dayMs + 6 * hourMs, 90).at(-1);
    };
    // It is clear after 70 s this time, within five minutes of its earlier time.
    expect([0, 4, 5, 11].map(levelAfter)).toEqual([200, 200, 200, 200]);
    expect(levelAfter(12)).toBe(0);
  });

  it('recognizes pieces of its past, each of which may hold half of an anomaly', () => {
    const pieceMs = 10 * 60_000;
    const levelAfter = (evidence: number, ms: number) => {
      const episodes = new DailyRecurrence();
      episodes.addPiece(6 * hourMs - pieceMs, 6 * hourMs + pieceMs, evidence, 2);
      return burst(episodes, dayMs + 6 * hourMs + ms, 150);
    };
    // Twice the double of the piece's evidence, from when it is clear on, anywhere in the piece.
    for (const ms of [-pieceMs, -60_000, 0, 9 * 60_000]) {
      const levels = levelAfter(20, ms);
      expect([levels.find((level) => level > 0), levels.at(-1)]).toEqual([160, 160]);
    }
    // It is clear after 50 s, within five minutes of the piece.
    expect(Math.max(...levelAfter(20, -pieceMs - 6 * 60_000))).toBe(0);
    expect(Math.max(...levelAfter(20, 16 * 60_000))).toBe(0);
    // Less than ln 100 counts as none.
    expect(levelAfter(4.75, 0).at(-1)).toBe(38);
    expect(levelAfter(4.5, 0).at(-1)).toBe(0);
  });

  it('takes what looks like another fault for something else, once that is known', () => {
    const levelsOf = (kind: readonly number[]) => {
      const episodes = new DailyRecurrence();
      burst(episodes, 6 * hourMs, 90, 1, [4, 3, 0]);
      return burst(episodes, dayMs + 6 * hourMs, 90, 1, kind);
    };
    expect(levelsOf([40, 30, 0]).at(-1)).toBe(180);
    // The cosine is 0.8, and 0.79.
    expect(levelsOf([5, 0, 0]).at(-1)).toBe(180);
    expect(levelsOf([4.95, 0, 0.8]).at(-1)).toBe(0);
    expect(levelsOf([0, 0, 1]).at(-1)).toBe(0);
    // With few slow requests it does not count: two minutes after it was clear, in the eighth window.
    const levels = levelsOf([0, 0, 1]);
    expect(levels.findLastIndex((level) => level > 0)).toBe(7 + 11);
    // An unknown shape, of today or of yesterday, matches all.
    expect(levelsOf([]).at(-1)).toBe(180);
  });

  it('uses the shape of the first five minutes, whatever follows', () => {
    const levelOf = (early: readonly number[], late: readonly number[]) => {
      const episodes = new DailyRecurrence();
      burst(episodes, 6 * hourMs, 90, 1, [4, 3, 0]);
      const startMs = dayMs + 6 * hourMs;
      for (let i = 0; i < 60; i++) {
        // It is clear in the first window; the 31st is five minutes later.
        const shape = i < 30 ? early : late;
        episodes.observe(startMs + i * windowMs, 12 + i, 1, startMs, shape);
      }
      return episodes.threshold(startMs + 59 * windowMs, 1);
    };
    expect(levelOf([4, 3, 0], [0, 0, 1])).toBe(180);
    expect(levelOf([0, 0, 1], [4, 3, 0])).toBe(0);
  });

  it('is one episode for as long as that of the day before, though evidence begins again', () => {
    const continuesAfter = (yesterdayMinutes: number, minutes: number) => {
      const episodes = new DailyRecurrence();
      const job = (fromMs: number, lastsMinutes: number) => {
        for (let i = 0; i < 6 * 120; i++) {
          episodes.observe(fromMs + i * windowMs, i < 6 * lastsMinutes ? 90 : 0, 1, fromMs);
          if (fromMs > dayMs && i === 6 * minutes) return episodes.isOpen;
        }
        return episodes.isOpen;
      };
      job(6 * hourMs, yesterdayMinutes);
      return job(dayMs + 6 * hourMs, 8);
    };
    // Yesterday's evidence last came ten seconds before the end.
    expect([8, 20, 34, 35].map((minutes) => continuesAfter(30, minutes))).toEqual([
      ...[true, true, true],
      false,
    ]);
    // With nothing expected it is over after a minute.
    expect([8, 9].map((minutes) => continuesAfter(0, minutes))).toEqual([true, false]);
    // Longer anomalies are expected to last an hour at most.
    expect([64, 65].map((minutes) => continuesAfter(90, minutes))).toEqual([true, false]);
  });

  it('starts with a copy of another one, and continues by itself', () => {
    const before = new DailyRecurrence();
    burst(before, 6 * hourMs, 90);
    const after = new DailyRecurrence();
    after.inherit(before);
    expect(burst(after, dayMs + 6 * hourMs, 95).at(-1)).toBe(180);
    // Later observations of the other one are its own.
    burst(before, 9 * hourMs, 90);
    expect(burst(after, dayMs + 9 * hourMs, 95).at(-1)).toBe(0);
  });

  it('recognizes an anomaly that is clear after minutes today, and was clear at once yesterday', () => {
    const levelAfter = (unclearMinutes: number) => {
      const episodes = new DailyRecurrence();
      burst(episodes, 6 * hourMs, 90);
      const sinceMs = dayMs + 6 * hourMs;
      const clearMs = sinceMs + unclearMinutes * 60_000;
      episodes.observe(clearMs, 60, 1, sinceMs);
      return episodes.threshold(clearMs, 1);
    };
    // Yesterday it was clear after 70 s. Twice its evidence in the 49th window, and at its end.
    expect([3, 11].map(levelAfter)).toEqual([147, 180]);
    expect(levelAfter(12)).toBe(0);
  });

  it('is not reduced for an anomaly before the time at which it was clear the day before', () => {
    const episodes = new DailyRecurrence();
    const clearMs = 6 * hourMs + 4 * 60_000;
    for (let i = 0; i < 60; i++)
      episodes.observe(clearMs + i * windowMs, i < 30 ? 90 : 0, 1, clearMs);
    // It was clear at once then, and is a minute earlier today: the same may be its beginning.
    episodes.observe(dayMs + clearMs - 60_000, 15, 1, dayMs + clearMs - 60_000);
    expect(episodes.threshold(dayMs + clearMs - 60_000, 1)).toBe(180);
  });

  it('does not count the same day as one before', () => {
    const episodes = new DailyRecurrence();
    burst(episodes, 6 * hourMs, 90);
    expect(Math.max(...burst(episodes, 8 * hourMs, 90))).toBe(0);
  });

  it('requires more than the clearest of a week, if it came yesterday at all', () => {
    const last = (...peaks: readonly number[]) => {
      const episodes = new DailyRecurrence();
      return peaks.map((peak, day) =>
        peak === 0 ? 0 : Math.max(...burst(episodes, day * dayMs + 6 * hourMs, peak)),
      );
    };
    expect(last(90, 40, 40, 0, 40, 40).at(-1)).toBe(180);
    expect(last(90, 0, 0, 40).at(-1)).toBe(0);
  });

  it('keeps the last 128', () => {
    const levelAfter = (others: number) => {
      const episodes = new DailyRecurrence();
      burst(episodes, 0, 90);
      for (let i = 1; i <= others; i++) burst(episodes, i * 1_020_000, 20);
      return Math.max(...burst(episodes, 2 * dayMs, 90));
    };
    expect(levelAfter(127)).toBe(180);
    expect(levelAfter(128)).toBeLessThan(90);
  });
});
