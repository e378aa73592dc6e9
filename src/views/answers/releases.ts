import { z } from 'zod';
import { answerOf, count, time } from './common.ts';

/** A release: a version of a model seen for the first time. */
const releaseRow = z.strictObject({
  model: z.string(),
  version: z.string(),
  first_seen: time,
  last_seen: time,
  requests: count.describe('In the range.'),
});

export const releasesAnswer = answerOf(releaseRow);
export type ReleaseRow = z.output<typeof releaseRow>;
export type ReleasesAnswer = z.output<typeof releasesAnswer>;
