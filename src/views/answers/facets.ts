import { z } from 'zod';
import { answerOf, count, ms } from './common.ts';

/** Percentiles of the requests with one value of a facet. */
const facetRow = z.strictObject({
  facet: z.string().describe('Such as `input_tokens`, `batch_size` or `host`.'),
  value: z
    .string()
    .describe('A host, `hit` or `miss`, or from a power of two to the next one: `512-1023`.'),
  requests: count,
  quantiles: z
    .array(
      z.strictObject({
        q: z.number(),
        ms: ms.describe('As if durations were spread evenly over their band.'),
        low_ms: ms.describe('The true value lies between this …'),
        high_ms: ms.describe('… and this: a band is 14 to 25 % wide.'),
      }),
    )
    .describe('Of the whole requests, in the order asked for.'),
});

/** Tokens of all requests, which are stored by powers of two: not their sums. */
const tokenRate = z.strictObject({
  facet: z.enum(['input_tokens', 'output_tokens']),
  per_second: z.number().describe('As if numbers were spread evenly between powers of two.'),
  low_per_second: z.number().describe('The true value lies between this …'),
  high_per_second: z.number().describe('… and this.'),
});

export const facetsAnswer = answerOf(facetRow).extend({
  tokens: z
    .array(tokenRate)
    .describe('Tokens a second, from the first minute with requests to the last one.'),
});
export type FacetRow = z.output<typeof facetRow>;
export type TokenRate = z.output<typeof tokenRate>;
export type FacetsAnswer = z.output<typeof facetsAnswer>;
