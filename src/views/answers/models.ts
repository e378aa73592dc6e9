import { z } from 'zod';
import { answerOf, count, ms, share } from './common.ts';

const objective = z
  .strictObject({
    name: z.string(),
    objective: share.describe('Part of the requests that must be good.'),
    threshold_ms: z.number().describe('A request that takes longer, or fails, is bad.'),
    good: share
      .nullable()
      .describe(
        'Part of the requests of the range that was good. Which of the failed requests were slow is not stored: timeouts are taken for slow, and errors for as slow as the others in their step, as `slo_burn` does.',
      ),
    budget_left: z
      .number()
      .nullable()
      .describe(
        'Part of the error budget of the range that is left; negative where it is overdrawn.',
      ),
  })
  .describe('The strictest objective of the model.');

const steps = z.array(z.number().nullable());

/** One model over the range, against the same hours of the last seven days. */
const modelRow = z.strictObject({
  model: z.string(),
  counted_stage: z
    .string()
    .describe(
      'Stage that requests are counted by. `total`, or, where no event of the model has a total, the stage with the most requests: then there are no quantiles, as no duration is of a whole request.',
    ),
  requests: count,
  requests_per_second: z
    .number()
    .describe(
      'Over the part of the range that is complete, from its start or from the first data of the model.',
    ),
  failed: count.describe('Errors and time-outs.'),
  p50_ms: ms,
  p95_ms: ms,
  p99_ms: ms,
  at_least: z
    .array(z.enum(['p50_ms', 'p95_ms', 'p99_ms']))
    .describe('Percentiles that are lower bounds, as requests were given up before them.'),
  baseline_p99_ms: ms.describe('p99 of the baseline.'),
  baseline_of: z
    .enum(['week', 'detector'])
    .nullable()
    .describe(
      '`week`: the same hours on the last seven days. `detector`, where these have no requests: the last `detect.baseline` of the range, as the detector compares with, without minutes in which an anomaly of durations was open. Null without a baseline.',
    ),
  ratio: z.number().nullable().describe('p99_ms / baseline_p99_ms.'),
  p99_steps_ms: steps.describe('p99 step by step, from bands; null for a step without requests.'),
  baseline_steps_ms: steps.describe('Its baseline step by step, from bands where it is `week`.'),
  rate_steps: steps.describe(
    'Requests per second step by step; null before the first data of the model, and where nothing is complete.',
  ),
  objective: objective.nullable(),
});

export const modelsAnswer = answerOf(modelRow).extend({
  total_models: count.describe(
    'Models with requests in the range. `rows` has `limit` of them at most, those with the most requests.',
  ),
  quantiles_from: z
    .enum(['digests', 'bands'])
    .describe(
      'Where p50, p95, p99 and the baseline come from. `digests`: merged over exactly the range. `bands`: where merging would take too long; within 1 % on average, but up to a quarter off where requests are all alike. Steps are always from bands, and bands count requests that were given up as if they had ended.',
    ),
});
export type ModelRow = z.output<typeof modelRow>;
export type ModelsAnswer = z.output<typeof modelsAnswer>;
