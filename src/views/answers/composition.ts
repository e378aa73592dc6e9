import { z } from 'zod';
import { answerOf, count, ms, share, time } from './common.ts';

const part = z.strictObject({
  stage: z.string().describe('A stage, or `unaccounted` for time that no stage measured.'),
  mean_ms: z.number().describe('Its mean in the requests of the slice, those without it included.'),
});

/** Requests of one slice of slowness, cut at the edges of bands, so that it is exact. */
const sliceRow = z.strictObject({
  at: time.nullable().describe('Start of the step; null where the range is one.'),
  from_share: share.describe('Part of the requests that is faster than this slice.'),
  to_share: share.describe('That part with the slice.'),
  above_ms: ms.describe('Least duration of its requests; null for the fastest slice.'),
  below_ms: ms.describe('Upper edge, exclusive; null for the slowest slice.'),
  requests: count,
  mean_ms: ms.describe(
    'Mean total; the parts add up to it, within the 0.05 % that sums are stored to.',
  ),
  parts: z.array(part).describe('Largest mean first.'),
  baseline: z
    .strictObject({ mean_ms: ms, parts: z.array(part) })
    .nullable()
    .describe(
      'The same share of requests over the same hours of the last seven days; a band that it cuts is split. Null over time.',
    ),
});

const knownStage = z.strictObject({
  stage: z.string(),
  kind: z
    .enum(['part', 'milestone', 'measure'])
    .describe('A part of the total, the time from the start to a point, or a time per token.'),
});

export const compositionAnswer = answerOf(sliceRow).extend({
  stages: z.array(knownStage).describe('Stages that the model has ever had, by name.'),
  own_dimensions: z
    .array(z.string())
    .describe(
      'Own dimensions of `windows.dimensions`, without `attributes.`: each may be a `by` of tails.',
    ),
});
export type SliceRow = z.output<typeof sliceRow>;
export type KnownStage = z.output<typeof knownStage>;
export type CompositionAnswer = z.output<typeof compositionAnswer>;
