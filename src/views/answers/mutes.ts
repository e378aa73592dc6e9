import { z } from 'zod';
import { time } from './common.ts';

/** A mute, and who added and who ended it. */
const muteRow = z.strictObject({
  id: z.string(),
  state: z.enum(['later', 'holds', 'over']).describe('At the time of the answer.'),
  models: z.array(z.string()).describe('Patterns; empty for all.'),
  kinds: z.array(z.string()).describe('Empty for all.'),
  dimensions: z.record(z.string(), z.string()).describe('Patterns by dimension.'),
  from: time,
  until: time.describe('When it ends, or was ended.'),
  planned_until: time.nullable().describe('The end that was asked for.'),
  why: z.string(),
  who: z.string().describe('Login of who added it.'),
  on_behalf_of: z.string().nullable().describe('In whose name, as that one said.'),
  added_at: time.nullable(),
  ended_at: time.nullable().describe('Null where nobody has ended it.'),
  ended_by: z.string().nullable().describe('Login of who ended it.'),
});

/** Mutes with their history, those that end last first. */
export const mutesAnswer = z.strictObject({ rows: z.array(muteRow), sql: z.string() });
export type MuteRow = z.output<typeof muteRow>;
export type MutesAnswer = z.output<typeof mutesAnswer>;
