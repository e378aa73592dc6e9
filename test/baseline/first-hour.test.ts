import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/base/time.ts';
import { FirstHour } from '../../src/baseline/first-hour.ts';
import { Arena } from '../../src/memory/arena.ts';
import { TDigest } from '../../src/sketch/t-digest.ts';

const startMs = 7 * 3_600_000 + 20_000;
const windowMs = 10_000;

/** A first hour with so many minutes of windows, of one request that is twice as slow every ten minutes. */
function hourOf(minutes: number, skipped: (minute: number) => boolean = () => false): FirstHour {
  const hour = new FirstHour(Arena.shared().scope());
  for (let ms = 0; ms < minutes * minuteMs; ms += windowMs) {
    const minute = Math.floor(ms / minuteMs);
    if (!skipped(minute))
      hour.observe(startMs + ms, TDigest.fromValues([2 ** Math.floor(minute / 10)]));
  }
  return hour;
}

describe('FirstHour', () => {
  it('keeps an hour in six pieces, and nothing after it', () => {
    const { pieces } = hourOf(75);
    expect(pieces.map((piece) => (piece.startMs - startMs) / minuteMs)).toEqual([
      0, 10, 20, 30, 40, 50,
    ]);
    for (const [i, { startMs: fromMs, endMs, digest }] of pieces.entries()) {
      expect(endMs - fromMs).toBe(10 * minuteMs);
      expect(digest.count).toBe(60);
      expect([digest.quantile(0), digest.quantile(1)]).toEqual([2 ** i, 2 ** i]);
    }
  });

  it('has a piece for minutes without requests, so that the others keep their time', () => {
    const { pieces } = hourOf(35, (minute) => minute >= 10 && minute < 30);
    expect(pieces.map(({ digest }) => digest.count)).toEqual([60, 0, 0, 30]);
    expect(pieces[3]?.startMs).toBe(startMs + 30 * minuteMs);
  });

  it('is over an hour after its first window, for any windows', () => {
    const hour = hourOf(1);
    expect(hour.isBefore(startMs + 60 * minuteMs - 1)).toBe(false);
    expect(hour.isBefore(startMs + 60 * minuteMs)).toBe(true);
    // Before the first window nothing can be over.
    expect(new FirstHour(Arena.shared().scope()).isBefore(startMs)).toBe(false);
  });
});
