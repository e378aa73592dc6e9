import { z } from 'zod';
import { count, ms, range, share, time } from './common.ts';
import { goodputRow } from './goodput.ts';

const side = z.strictObject({
  label: z.string().describe('The version, or the range in words.'),
  version: z.string().nullable(),
  from: time,
  to: time,
  requests: count,
  failed_share: share,
});

const quantile = z.strictObject({
  q: z.number(),
  a_ms: ms,
  b_ms: ms,
  a_at_least: z
    .boolean()
    .describe(
      'It lies beyond the last request that ended: `a_ms` counts those that were given up as if they had.',
    ),
  b_at_least: z.boolean().describe('The same of `b_ms`.'),
  ratio: z.number().nullable().describe('b / a.'),
  ratio_low: z.number().nullable(),
  ratio_high: z.number().nullable(),
});

const goodputSide = goodputRow.pick({ requests: true, missed: true, goodput: true });

/** Goodput of both sides by joint objective. */
export const comparedGoodputs = z.array(
  z.strictObject({
    ...goodputRow.pick({ name: true, objective: true, thresholds: true }).shape,
    a: goodputSide,
    b: goodputSide,
  }),
);

/** B against A: two versions, or two ranges of one. */
export const compareAnswer = z.strictObject({
  range,
  a: side,
  b: side,
  verdict: z.enum(['pass', 'fail', 'inconclusive']),
  incident: z
    .strictObject({
      id: z.string(),
      is_open: z.boolean().describe('B ends with the last whole minute, and grows.'),
      a_is: z.string().describe('What A is, in words.'),
    })
    .nullable()
    .describe(
      'The incident whose test gives the verdict, where B is its time and A lies before it; null: that of releases.',
    ),
  title: z
    .string()
    .describe('"B is better at p50 (−6 %) and worse at p99 (+38 %, 21 to 57): fail".'),
  reason: z.string(),
  missing_requests: count.describe('0 with a verdict, and of ranges that lie in the past.'),
  quantiles: z.array(quantile).describe('p1 to p99.9 of whole requests.'),
  stages: z
    .array(
      z.strictObject({
        stage: z.string(),
        quantiles: z.array(quantile),
        excess_ms: ms.describe('Its part of the difference of the slowest 1 %; all add up.'),
        share_of_excess: z.number().nullable(),
      }),
    )
    .describe('The largest part of the difference first.'),
  goodput: comparedGoodputs.describe(
    'Joint objectives of `detect.slos` that may be of the model, from the first block with requests of both sides to the last.',
  ),
  mix: z
    .array(z.string())
    .describe('Sentences on request types, regions or sizes in which A and B differ.'),
  like_with_like: z
    .array(quantile)
    .nullable()
    .describe('The same with B weighted to the mix of A; null where the mixes agree.'),
  sql: z.string(),
});
export type ComparedGoodput = CompareAnswer['goodput'][number];
export type CompareAnswer = z.output<typeof compareAnswer>;
