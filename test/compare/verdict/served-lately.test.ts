import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../../src/base/time.ts';
import type { ComparedMinute, VersionMinute } from '../../../src/compare/compared-minute.ts';
import type { Comparison } from '../../../src/compare/comparison.ts';
import { servedLately } from '../../../src/compare/verdict/served-lately.ts';

const startMs = Date.UTC(2026, 10, 1, 12);
const version = (requests: number) => ({ requests }) as VersionMinute;
/** v2 has requests in the first ten minutes of an hour, v1 in all of them. */
const minutes = Array.from(
  { length: 60 },
  (_, i) =>
    ({
      startMs: startMs + i * minuteMs,
      candidate: version(i < 10 ? 100 : 0),
      baseline: version(100),
    }) as ComparedMinute,
);
const of = (verdict: Comparison['verdict']) =>
  ({ verdict, reason: 'not worse', missing_requests: 0 }) as Comparison;
const at = (minute: number) => startMs + minute * minuteMs;

describe('a version that passed', () => {
  it('stays so while it is served, with a pause of five minutes', () => {
    for (const minute of [10, 12, 15]) {
      const given = of('pass');
      expect(servedLately(given, { candidate: 'v2', minutes, untilMs: at(minute) })).toBe(given);
    }
  });

  it('is inconclusive once it has had no request for longer', () => {
    expect(servedLately(of('pass'), { candidate: 'v2', minutes, untilMs: at(17) })).toMatchObject({
      verdict: 'inconclusive',
      reason: 'no request of version v2 for 7 min; before that: not worse',
    });
  });
});

it.each(['fail', 'inconclusive'] as const)('a version that is %s stays so', (verdict) => {
  const given = of(verdict);
  expect(servedLately(given, { candidate: 'v2', minutes, untilMs: at(60) })).toBe(given);
});
