import { describe, expect, it } from 'vitest';
import { httpDateMs, retryAfterMs } from '../../../src/base/network/retry-after.ts';

const nowMs = Date.UTC(1994, 10, 6, 8, 49, 0);

describe('retryAfterMs', () => {
  it.each([
    undefined,
    '',
    ' ',
    'soon',
    'soon 3',
    '-5',
    '+5',
    '1.5',
    '5s',
    '0x10',
    '1e3',
    '5, 10',
    '１０',
    'Infinity',
    'NaN',
    'null',
    '1994-11-06T08:49:37Z',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 06 Nov 1994 08:49:37 +0100',
    'Sun, 06 Abc 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 28:49:37 GMT',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'x Sun, 06 Nov 1994 08:49:37 GMT',
  ])('ignores %o', (header) => {
    expect(retryAfterMs(header, nowMs)).toBeUndefined();
  });

  it.each([
    ['0', 0],
    ['1', 1_000],
    [' 120 ', 120_000],
    ['007', 7_000],
    ['900', 900_000],
    ['901', 900_000],
    ['99999999999999999999999', 900_000],
    ['9'.repeat(400), 900_000],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 37_000],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 37_000],
    ['Sun Nov  6 08:49:37 1994', 37_000],
    ['Sun, 06 Nov 1994 08:48:00 GMT', 0],
    ['Sun, 06 Nov 1994 09:49:00 GMT', 900_000],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 900_000],
  ])('reads "%s" as %d ms', (header, waitMs) => {
    expect(retryAfterMs(header, nowMs)).toBe(waitMs);
  });
});

describe('httpDateMs', () => {
  it.each([undefined, '', '784111777', 'Sun, 06 Nov', 'yesterday'])('ignores %o', (header) => {
    expect(httpDateMs(header)).toBeUndefined();
  });

  it('reads a date to the second', () => {
    expect(httpDateMs('Sun, 06 Nov 1994 08:49:37 GMT')).toBe(784_111_777_000);
  });
});
