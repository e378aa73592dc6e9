import { describe, expect, it } from 'vitest';
import { dayMs, minuteMs } from '../../../src/base/time.ts';
import { SilenceTest } from '../../../src/detect/traffic/silence-test.ts';
import { detectOptions } from '../../scenarios/run-scenario.ts';

const options = detectOptions();
const levels = { perWeek: 1e-3 };
const forecast = { perSecond: 50, fromMs: 0, toMs: 0, isKnown: true, isWeekKnown: true };

/** Two days of requests with one pause of so many minutes. */
function withPause(minutes: number): SilenceTest {
  const test = new SilenceTest(options);
  for (let startMs = 0; startMs < 2 * dayMs; startMs += options.window) {
    const isPause = startMs >= dayMs && startMs < dayMs + minutes * minuteMs;
    test.observe(startMs, isPause ? 0 : 500, true);
  }
  return test;
}

describe('SilenceTest', () => {
  it('speaks of a gap that is three times as long as the longest pause of late, and of none before', () => {
    const test = withPause(20);
    const verdictAfter = (minutes: number) =>
      test.evaluate(2 * dayMs + minutes * minuteMs, forecast, levels, 0);
    expect(verdictAfter(59)).toBeUndefined();
    expect(verdictAfter(60)).toMatchObject({ startedAtMs: 2 * dayMs, gapMs: 60 * minuteMs });
  });
});
