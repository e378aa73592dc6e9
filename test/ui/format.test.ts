import { describe, expect, it } from 'vitest';
import {
  decimal,
  durationText,
  formatCount,
  formatExactShare,
  formatMs,
  formatRatio,
  formatShare,
  formatSignedMs,
  lastedText,
  msCell,
  msFormat,
  plural,
  quantileName,
  threeDigits,
} from '../../ui/src/format/number.ts';
import {
  formatAs,
  formatRange,
  formatTime,
  relativeName,
  zoneName,
} from '../../ui/src/format/time.ts';
import { plain } from './plain.ts';

describe('numbers', () => {
  it.each([
    [0, '0'],
    [0.001, '< 0.01'],
    [-0.001, '> −0.01'],
    [0.005, '0.01'],
    [4.7, '4.70'],
    [9.994, '9.99'],
    [9.996, '10.0'],
    [61, '61.0'],
    [99.94, '99.9'],
    [99.96, '100'],
    [512.4, '512'],
    [61_204, '61,204'],
    [-32.2, '−32.2'],
  ])('%d has three digits in a column: %s', (value, text) => {
    expect(threeDigits(value)).toBe(text);
  });

  it.each([
    [4.7, '4.7'],
    [61, '61'],
    [100, '100'],
    [0.5, '0.5'],
    [0, '0'],
  ])('%d is %s in a sentence', (value, text) => {
    expect(decimal(value)).toBe(text);
  });

  it.each([
    [0, '0 ms'],
    [0.00042, '0.42 µs'],
    [0.84, '840 µs'],
    [0.9996, '1.00 ms'],
    [10.04, '10.0 ms'],
    [999.4, '999 ms'],
    [999.6, '1.00 s'],
    [1_242, '1.24 s'],
    [30_000, '30.0 s'],
  ])('%d ms is a cell of three digits in its own unit: %s', (ms, text) => {
    const cell = msCell(ms);
    expect(`${cell.text} ${cell.unit}`).toBe(text);
  });

  it('have one unit a column: seconds once one of them reaches 10 s', () => {
    const short = msFormat([12, null, 9_999]);
    expect([short.unit, short.format(12), short.format(null)]).toEqual(['ms', '12.0', '–']);
    const long = msFormat([12, 10_000, undefined]);
    expect([long.unit, long.format(12), long.format(10_000)]).toEqual(['s', '0.012', '10.0']);
    // Three digits beside an axis in seconds, and no tick of one is "< 0.01".
    const { tick, signed } = msFormat([20_000]);
    expect([1, 12, 100, 12_976, 20_000].map(tick)).toEqual(['0.001', '0.012', '0.1', '13', '20']);
    expect([12_976, -45.12, 0.001].map(signed)).toEqual(['+13', '−0.0451', '0']);
  });

  it.each([
    [512, '512 ms'],
    [12_400, '12.4 s'],
    [null, '–'],
  ])('%s ms reads %s', (ms, text) => {
    expect(plain(formatMs(ms))).toBe(text);
  });

  it('have a sign where they are a difference', () => {
    expect([177, -32.2, 0].map((ms) => plain(formatSignedMs(ms)))).toEqual([
      '+177 ms',
      '−32.2 ms',
      '0 ms',
    ]);
  });

  it.each([
    [0, '0 %'],
    [0.0000001, '< 0.0001 %'],
    [0.00001, '0.001 %'],
    [0.0003, '0.03 %'],
    [0.0123, '1.2 %'],
    [0.123, '12 %'],
    [0.9996, '> 99.9 %'],
    [0.9985, '99.9 %'],
    [0.95, '95 %'],
    [0.956, '95.6 %'],
    [1, '100 %'],
    [1.23, '123 %'],
    [-0.22, '−22 %'],
    [null, '–'],
  ])('the share %s is %s', (share, text) => {
    // Never 100 % for what only rounds to it: one request of 100,000 is why somebody looks.
    expect(plain(formatShare(share))).toBe(text);
  });

  it('keep all digits of an objective', () => {
    expect([0.999, 0.9995, 0.99, 0.95].map((share) => plain(formatExactShare(share)))).toEqual([
      '99.9 %',
      '99.95 %',
      '99 %',
      '95 %',
    ]);
  });

  it('are ratios, counts and quantiles', () => {
    expect([2.14, 0.05, 12.3, null].map((ratio) => plain(formatRatio(ratio)))).toEqual([
      '2.1x',
      '0.05x',
      '12x',
      '–',
    ]);
    expect([0.5, 0.99, 0.999, 0.9999].map(quantileName)).toEqual(['p50', 'p99', 'p99.9', 'p99.99']);
    expect([formatCount(1_204_551), formatCount(null)]).toEqual(['1,204,551', '–']);
    expect([plural(1, 'model'), plural(0, 'model'), plural(2, 'series', 'series')]).toEqual([
      '1 model',
      '0 models',
      '2 series',
    ]);
  });
});

describe('times', () => {
  const nowMs = Date.UTC(2026, 10, 25, 12);
  const utc = { utc: true, nowMs };

  it.each([
    [nowMs - 1_000, '11:59:59'],
    // Just after midnight an incident of last night has its seconds, too.
    [nowMs - 12.5 * 3_600_000, '24 Nov 23:30:00'],
    [nowMs - 86_400_000, '24 Nov 12:00'],
    [nowMs + 86_400_000, '26 Nov 12:00'],
    [Date.UTC(2025, 10, 25, 12), '25 Nov 2025 12:00:00'],
  ])('%i reads %s', (ms, text) => {
    expect(formatTime(ms, utc)).toBe(text);
  });

  it('are of the zone of the page', () => {
    expect(formatAs(nowMs, 'full', { utc: true })).toBe('25 Nov 2026 12:00:00');
    expect(zoneName(nowMs, { utc: true })).toBe('UTC');
    expect(zoneName(nowMs, { utc: false })).toMatch(/^UTC([+−]\d{1,2}(:\d\d)?)?$/);
  });

  it.each([
    [[nowMs - 900_000, nowMs], '11:45 – 12:00'],
    [[nowMs - 25 * 3_600_000, nowMs - 24 * 3_600_000], '24 Nov 11:00 – 12:00'],
    [[nowMs - 30 * 3_600_000, nowMs], '24 Nov 06:00 – 25 Nov 12:00'],
    [[0, 3_600_000], '1 Jan 1970 00:00 – 01:00'],
  ])('the range %j reads %s', ([fromMs = 0, toMs = 0], text) => {
    expect(formatRange({ fromMs, toMs }, utc)).toBe(text);
  });

  it.each([
    [0, '0 s'],
    [99_000, '99 s'],
    [12 * 60_000, '12 min'],
    [200 * 60_000, '3 h 20 min'],
    [3 * 3_600_000, '3 h'],
    [13.4 * 3_600_000, '13 h 24 min'],
    [50 * 3_600_000, '2 d 2 h'],
    [-5, '0 s'],
  ])('%d ms are %s', (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });

  it.each([
    [630, '10 min 30 s'],
    [600, '10 min'],
    [90, '90 s'],
    [3_630, '61 min'],
  ])('beside a start and an end agree with them: %d s', (seconds, text) => {
    const at = (second: number) => new Date(Date.UTC(2026, 10, 1, 12, 1, second)).toISOString();
    expect(lastedText(at(0), at(seconds))).toBe(text);
  });

  it('are relative in words', () => {
    expect([relativeName('-6h'), relativeName('-15m')]).toEqual(['last 6 h', 'last 15 min']);
  });
});
