import { z } from 'zod';
import { answerOf, count, share, time } from './common.ts';

/** Requests of a model that met all thresholds of a joint objective of `detect.slos`. */
export const goodputRow = z.strictObject({
  name: z.string().describe('Name of the objective.'),
  objective: share.describe('Part of the requests that must be good.'),
  thresholds: z
    .array(z.strictObject({ stage: z.string(), ms: z.number() }))
    .describe(
      'A request is good if it takes no longer in each of these stages that it has, and does not fail.',
    ),
  requests: count.describe('Requests that were counted, one by one, as they were ingested.'),
  missed: count.describe('Those that missed a threshold or failed.'),
  goodput: share.nullable().describe('Part that was good; null without requests.'),
  counted_from: time
    .nullable()
    .describe(
      'Start of the first minute that was counted, where the range has earlier requests: the objective, or one of its thresholds, is newer than they are.',
    ),
});

export const goodputAnswer = answerOf(goodputRow);
export type GoodputRow = z.output<typeof goodputRow>;
export type GoodputAnswer = z.output<typeof goodputAnswer>;
