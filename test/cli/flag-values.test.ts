import { describe, expect, it } from 'vitest';
import { timeRange } from '../../src/cli/flag-values.ts';

const nowMs = Date.parse('2026-11-26T12:00:00Z');
const since = (text: string) => timeRange(text, 'now', nowMs).fromMs;

describe('a time flag', () => {
  it.each(
    // Plain numbers, dates that do not exist, times without a zone: Date.parse reads most of them as a year.
    [
      ...['5', '12', '60', '90', '2026', '-1', '1.5', '1764000000', '1764000000000', '', ' '],
      ...['last 2', 'yesterday', 'now-1h', '1 hour', '1hour', '5min', '-5m', '5 m', '5M'],
      ...['2026-02-30T00:00:00Z', '2026-13-01T00:00:00Z', '2026-11-25', '2026-11-25T10:00:00'],
      ...['2026-11-25 10:00', '11/25/2026', 'Nov 25 2026', '25.11.2026', '2026-11-25T25:00:00Z'],
    ],
  )('refuses %j', (text) => {
    expect(() => since(text)).toThrow(
      `Cannot read --since as it must be a duration before now or an RFC 3339 time: it is ${JSON.stringify(text)}`,
    );
  });

  it.each([
    ['5m', nowMs - 300_000],
    ['1.5h', nowMs - 5_400_000],
    ['90s', nowMs - 90_000],
    ['2d', nowMs - 172_800_000],
    ['2026-11-25T10:00:00Z', Date.UTC(2026, 10, 25, 10)],
    ['2026-11-25T10:00:00.123Z', Date.UTC(2026, 10, 25, 10, 0, 0, 123)],
    ['2026-11-25T10:00:00+02:00', Date.UTC(2026, 10, 25, 8)],
    ['2026-11-25t10:00:00z', Date.UTC(2026, 10, 25, 10)],
    // As commands print whole minutes.
    ['2026-11-25T10:30Z', Date.UTC(2026, 10, 25, 10, 30)],
    ['2026-11-25T10:30-01:30', Date.UTC(2026, 10, 25, 12)],
  ])('reads %s', (text, fromMs) => {
    expect(since(text)).toBe(fromMs);
  });
});
