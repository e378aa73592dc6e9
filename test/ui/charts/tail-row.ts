import type { TailRow } from '../../../ui/src/data/answers.ts';

/** A row of percentiles with what a test does not look at. */
export const tailRow = (of: Partial<TailRow>): TailRow => ({
  ...{ at: null, by: '', state: 'final', requests: 0, failed: 0, baseline: null },
  ...{ mean_ms: 9, min_ms: 1, max_ms: 900, censored: 0 },
  quantiles: [{ q: 0.5, ms: 8, at_least: false }],
  ...of,
});
