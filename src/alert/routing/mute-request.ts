import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import {
  attributeKey,
  attributeKeyPattern,
  attributePrefix,
  dimensions,
  isAttributeName,
} from '../../base/dimensions.ts';
import { knownSecrets } from '../../base/telemetry/known-secrets.ts';
import { dayMs } from '../../base/time.ts';
import { anomalyEventSchema } from '../../contract/anomaly-event.ts';
import type { Mute } from '../../sink/anomalies/mute-store.ts';
import { cleanText } from '../message/clean-text.ts';

/** Longest mute. */
export const mostMutedMs = 30 * dayMs;
/** Longest time until a mute begins: a later one is a slip of a digit, and its page is not muted. */
export const mostAheadMs = 366 * dayMs;

/** Latest time that ClickHouse can store. */
const latestMs = Date.UTC(2299, 11, 31);
const timeMs = z.int().min(0).max(latestMs);

const pattern = z.string().min(1).max(256);

/** A text for all who read it: one line, with nothing hidden in it. */
function shownText(maxChars: number) {
  return z
    .string()
    .overwrite((text) => cleanText(text, Number.POSITIVE_INFINITY))
    .trim()
    .min(1)
    .max(maxChars);
}

/** Body of `tailmark mute` and POST /v1/mutes. At least one of models, kinds and dimensions must be given. */
export const muteRequestSchema = z
  .strictObject({
    models: z.array(pattern).max(100).default([]).describe('Models; * matches any text.'),
    kinds: z.array(anomalyEventSchema.shape.kind).default([]).describe('Kinds of anomalies.'),
    dimensions: z
      .partialRecord(z.enum(dimensions), pattern)
      .default({})
      .describe('Value of a dimension; * matches any text.'),
    attributes: z
      .record(z.string().regex(attributeKeyPattern), pattern)
      .optional()
      .describe('Value of an own dimension, by name; * matches any text.'),
    from_ms: timeMs.describe('Begin, in epoch milliseconds; at most 366 days ahead.'),
    until_ms: timeMs.describe('End, at most 30 days after the begin.'),
    why: shownText(500).describe('Why, for those who wonder later.'),
    who: shownText(100)
      .optional()
      .describe('In whose name, where that is not the login: it is kept as on_behalf_of.'),
  })
  .refine(({ from_ms, until_ms }) => until_ms > from_ms, {
    path: ['until_ms'],
    error: 'must lie after from_ms',
  })
  .refine(({ from_ms, until_ms }) => until_ms - from_ms <= mostMutedMs, {
    path: ['until_ms'],
    error: 'must be at most 30 days after from_ms',
  })
  .refine(
    ({ models, kinds, dimensions: named, attributes = {} }) =>
      models.length + kinds.length + Object.keys({ ...named, ...attributes }).length > 0,
    { path: ['models'], error: 'must be given, or kinds or dimensions; "*" is every model' },
  );

const epochMs = z.int().min(0).nullable();

/** A mute as answers have it, with its history. */
export const muteSchema = z.strictObject({
  id: z.string(),
  ...muteRequestSchema.shape,
  who: z.string().describe('Login of who added it.'),
  on_behalf_of: z.string().nullable().describe('In whose name, as that one said.'),
  added_at_ms: epochMs.describe('Null where an earlier version has added it.'),
  planned_until_ms: epochMs.describe('The end that was asked for; until_ms is when it ends.'),
  ended_at_ms: epochMs.describe('Null where nobody has ended it.'),
  ended_by: z.string().nullable().describe('Login of who ended it.'),
});

/** Makes the mute that a valid request asks for. @param by.who the login of who asks */
export function muteOf(
  request: z.output<typeof muteRequestSchema>,
  by: { readonly who: string; readonly nowMs: number },
): Mute {
  const {
    models,
    kinds,
    from_ms,
    until_ms,
    dimensions: named,
    attributes = {},
    why,
    who,
  } = request;
  const own = Object.entries(attributes).map(([name, value]) => [attributePrefix + name, value]);
  return {
    id: randomUUID().slice(0, 8),
    // Whoever pastes a secret as a reason finds it nowhere again: rows are read by many.
    ...{ models, kinds, why: knownSecrets.hide(why), who: by.who },
    fromMs: from_ms,
    untilMs: until_ms,
    dimensions: { ...(named as Record<string, string>), ...Object.fromEntries(own) },
    onBehalfOf: who === by.who || who === undefined ? undefined : knownSecrets.hide(who),
    addedMs: by.nowMs,
    plannedUntilMs: until_ms,
  };
}

/** A mute as the API and `--json` show it, in the words of the request that added it. */
export function muteJson({ id, models, kinds, dimensions: named, why, who, ...rest }: Mute) {
  const all = Object.entries(named);
  const own = all.flatMap(([name, value]) =>
    isAttributeName(name) ? [[attributeKey(name), value] as const] : [],
  );
  const others = all.filter(([name]) => !isAttributeName(name));
  return {
    ...{ id, models, kinds, dimensions: Object.fromEntries(others) },
    ...(own.length > 0 && { attributes: Object.fromEntries(own) }),
    ...{ from_ms: rest.fromMs, until_ms: rest.untilMs, why, who },
    on_behalf_of: rest.onBehalfOf ?? null,
    added_at_ms: rest.addedMs ?? null,
    planned_until_ms: rest.plannedUntilMs ?? null,
    ended_at_ms: rest.endedMs ?? null,
    ended_by: rest.endedBy ?? null,
  };
}
