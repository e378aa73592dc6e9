import { z } from 'zod';
import { answerOf, count, ms, time, windowState } from './common.ts';

/** Quantiles of one part of the requests: a step, a stage, a version, … */
const tailRow = z.strictObject({
  at: time.nullable().describe('Start of the step; null where the range is one.'),
  by: z
    .string()
    .describe('Value that this row is of: a stage, a version, a region, …; empty with `by=time`.'),
  state: windowState,
  requests: count,
  failed: count,
  mean_ms: ms,
  min_ms: ms,
  max_ms: ms,
  censored: count.describe(
    'Requests that were given up (timeout, cancelled): how long they would have taken is not known.',
  ),
  quantiles: z
    .array(
      z.strictObject({
        q: z.number(),
        ms,
        at_least: z
          .boolean()
          .describe(
            'The quantile lies beyond the last request that ended: it is at least `ms`. `sql` counts requests that were given up as if they had ended.',
          ),
      }),
    )
    .describe('In the order asked for, each merged from the digests of exactly this row.'),
  baseline: z
    .strictObject({ low_ms: ms, median_ms: ms, high_ms: ms })
    .nullable()
    .describe(
      'Least, median and largest `q` of the same time on the last seven days; only with `by=time` and `baseline_q`.',
    ),
});

export const tailsAnswer = answerOf(tailRow).extend({
  left_out: z
    .strictObject({ rows: count, requests: count })
    .describe('Values beyond the 1,000 with the most requests, which `rows` does not have.'),
});
export type TailRow = z.output<typeof tailRow>;
export type TailsAnswer = z.output<typeof tailsAnswer>;
