import { z } from 'zod';
import { answerOf, count, time } from './common.ts';

/** A version of a model that had requests in a range. */
const versionRow = z.strictObject({
  model: z.string(),
  version: z.string(),
  first_seen: time.describe('Of all that is stored: to the hour where that was before the range.'),
  last_seen: time,
  requests: count.describe('In the range.'),
  is_live: z.boolean().describe('Whether it had requests until the last minutes of the range.'),
});

export const versionsAnswer = answerOf(versionRow);
export type VersionRow = z.output<typeof versionRow>;
export type VersionsAnswer = z.output<typeof versionsAnswer>;
