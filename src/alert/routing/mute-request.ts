import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { dimensions } from '../../base/dimensions.ts';
import { anomalyEventSchema } from '../../detect/event/anomaly-event.ts';
import type { Mute } from '../../sink/anomalies/mute-store.ts';

const dayMs = 86_400_000;
/** Longest mute. */
export const mostMutedMs = 30 * dayMs;

const pattern = z.string().min(1).max(256);

/** What `tailmark mute` and POST /v1/mutes take. At least one of models, kinds and dimensions must be given. */
export const muteRequestSchema = z
  .strictObject({
    models: z.array(pattern).max(100).default([]).describe('Models; * matches any text.'),
    kinds: z.array(anomalyEventSchema.shape.kind).default([]).describe('Kinds of anomalies.'),
    dimensions: z
      .partialRecord(z.enum(dimensions), pattern)
      .default({})
      .describe('Value of a dimension; * matches any text.'),
    from_ms: z.int().min(0).describe('Begin, in epoch milliseconds.'),
    until_ms: z.int().min(0).describe('End, at most 30 days after the begin.'),
    why: z.string().trim().min(1).max(500).describe('Why, for those who wonder later.'),
    who: z.string().trim().min(1).max(100).describe('Who mutes it.'),
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
    ({ models, kinds, dimensions: named }) =>
      models.length + kinds.length + Object.keys(named).length > 0,
    { path: ['models'], error: 'must be given, or kinds or dimensions; "*" is every model' },
  );

/** Makes the mute that a valid request asks for. */
export function muteOf(request: z.output<typeof muteRequestSchema>): Mute {
  const { from_ms, until_ms, dimensions: named, ...rest } = request;
  return {
    id: randomUUID().slice(0, 8),
    fromMs: from_ms,
    untilMs: until_ms,
    dimensions: named as Record<string, string>,
    ...rest,
  };
}

/** A mute as the API and `--json` show it, in the words of the request that added it. */
export function muteJson({ id, models, kinds, dimensions: named, ...rest }: Mute) {
  const { fromMs: from_ms, untilMs: until_ms, why, who } = rest;
  return { id, models, kinds, dimensions: named, from_ms, until_ms, why, who };
}
