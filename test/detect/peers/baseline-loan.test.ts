import { describe, expect, it } from 'vitest';
import { BorrowedBaseline } from '../../../src/baseline/borrowed-baseline.ts';
import { SeriesBaseline } from '../../../src/baseline/series-baseline.ts';
import { BaselineLoan } from '../../../src/detect/peers/baseline-loan.ts';
import type { Series } from '../../../src/series/series-window.ts';
import { detectOptions } from '../../scenarios/run-scenario.ts';
import { summarizeWindow } from '../../scenarios/summarize-window.ts';

const options = detectOptions({ baseline: '10m' });
const { baseline: baselineMs, window: windowMs, min_baseline_windows: least } = options;
const series: Series = {
  ...{ service: '', model: 'ranker', version: 'v2', request_type: '', region: '', host: '' },
  ...{ tenant: '', cold_start: false },
};
const windowAt = (at: number, requests: number) => {
  const stages = new Map([['total', Array.from({ length: requests }, () => 100)]]);
  return summarizeWindow({ series, windowStartMs: at * windowMs, windowMs, stages });
};
/** A past of so many windows. */
const past = (windows: number) => {
  const baseline = new SeriesBaseline(baselineMs, windowMs);
  for (let at = 0; at < windows; at++) baseline.learn(windowAt(at, 10));
  return baseline;
};
const borrowed = BorrowedBaseline.of([{ series, baseline: past(least) }], least);
/** A loan after so many windows of so many requests. */
const loanAfter = (windows: number, requests: number) => {
  const loan = new BaselineLoan(options);
  loan.borrowed = borrowed as BorrowedBaseline;
  for (let at = 0; at < windows; at++) loan.endsWith(windowAt(at, requests), past(0), false);
  return loan;
};

describe('the loan of a baseline', () => {
  it('is not lent on while the series has too little past, or too few requests', () => {
    expect(loanAfter(30, 10).lends(past(least - 1), false)).toBeUndefined();
    expect(loanAfter(29, 3).lends(past(least), false)).toBeUndefined();
  });

  it('is not lent on while the series has an open anomaly: its own past may be part of it', () => {
    const own = past(least);
    expect(loanAfter(30, 10).lends(own, true)).toBeUndefined();
    expect(loanAfter(30, 10).lends(own, false)).toBe(own);
  });

  it('is not needed for lending its own past, also while an anomaly is open', () => {
    const own = past(least);
    expect(new BaselineLoan(options).lends(own, true)).toBe(own);
  });

  it('ends with a baseline’s length of windows and enough requests, and not while an anomaly is open', () => {
    const last = baselineMs / windowMs;
    const own = past(last);
    expect(loanAfter(30, 10).endsWith(windowAt(last, 10), own, false)).toBe(true);
    expect(loanAfter(30, 10).endsWith(windowAt(last, 10), own, true)).toBe(false);
    expect(loanAfter(30, 10).endsWith(windowAt(last - 1, 10), own, false)).toBe(false);
    expect(loanAfter(30, 2).endsWith(windowAt(last, 10), own, false)).toBe(false);
    expect(loanAfter(30, 10).endsWith(windowAt(last, 10), past(least - 1), false)).toBe(false);
  });
});
