import { describe, expect, it } from 'vitest';
import { epochMsOf } from '../../src/decode/epoch-ms-of.ts';
import { scanEpochMs } from '../../src/decode/json/scan-epoch-ms.ts';
import { mulberry32 } from '../base/seeded-random.ts';

const scan = (text: string) => {
  const bytes = Buffer.from(text);
  return scanEpochMs(bytes, 0, bytes.length);
};

describe('an RFC 3339 date-time', () => {
  const bad = [
    '',
    '2026-11-21',
    '2026-11-21T08:00:00',
    '2026-11-21 08:00:00Z',
    '2026-11-21T08:00Z',
    '2026-11-21T24:00:00Z',
    '2026-11-21T08:60:00Z',
    '2026-11-21T08:00:61Z',
    '2026-13-01T08:00:00Z',
    '2026-00-01T08:00:00Z',
    '2026-11-00T08:00:00Z',
    '2026-11-31T08:00:00Z',
    '2026-02-29T08:00:00Z',
    '2100-02-29T08:00:00Z',
    '2026-11-21T08:00:00.Z',
    '2026-11-21T08:00:00,5Z',
    '2026-11-21T08:00:00+0100',
    '2026-11-21T08:00:00+24:00',
    '2026-11-21T08:00:00+01:60',
    '2026-11-21T08:00:00ZZ',
    ' 2026-11-21T08:00:00Z',
    '+002026-11-21T08:00:00Z',
    '2026-11-2xT08:00:00Z',
  ];
  it.each(bad)('is not %j', (text) => {
    expect(epochMsOf(text)).toBeNaN();
    expect(scan(text)).toBeNaN();
  });

  const good: [string, string][] = [
    ['2026-11-21T08:00:00Z', '2026-11-21T08:00:00.000Z'],
    ['2024-02-29T23:59:59.9999Z', '2024-02-29T23:59:59.999Z'],
    ['2000-02-29T00:00:00.5Z', '2000-02-29T00:00:00.500Z'],
    ['2026-01-01T00:30:00+05:30', '2025-12-31T19:00:00.000Z'],
    ['2026-12-31T23:30:00-01:00', '2027-01-01T00:30:00.000Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
    ['0099-03-01T00:00:00-00:00', '0099-03-01T00:00:00.000Z'],
  ];
  it.each(good)('%s is %s', (text, expected) => {
    expect(epochMsOf(text)).toBe(Date.parse(expected));
    expect(scan(text)).toBe(Date.parse(expected));
  });

  it('is read alike from text and from bytes, for 20,000 moments of 400 years', () => {
    const random = mulberry32(5);
    for (let i = 0; i < 20_000; i++) {
      const ms = Math.floor(random() * 400 * 365.25 * 86_400_000) - 200 * 365.25 * 86_400_000;
      const text = new Date(ms).toISOString();
      expect(epochMsOf(text)).toBe(ms);
      expect(scan(text)).toBe(ms);
    }
  });

  it('may have a small t and z for the general path only', () => {
    expect(epochMsOf('2026-11-21t08:00:00z')).toBe(Date.parse('2026-11-21T08:00:00Z'));
  });
});
