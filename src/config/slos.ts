import { z } from 'zod';
import { duration } from './duration.ts';

/** Requires distinct names, and distinct objectives where they have no names. */
function isDistinct(given: readonly { readonly name?: string | undefined }[]): boolean {
  return new Set(given.map((slo) => slo.name ?? JSON.stringify(slo))).size === given.length;
}

/** Objectives for models' requests: `detect.slos`. */
export const slos = z
  .array(
    z.strictObject({
      name: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .describe('Name in events. Default: made from the objective.'),
      model: z.string().min(1).describe('A model, or several: * matches any characters.'),
      request_type: z.string().min(1).optional().describe('Only requests of this type.'),
      threshold: duration({ minMs: 1, maxMs: 3_600_000 }).describe(
        'A request that takes longer or fails is bad.',
      ),
      objective: z
        .number()
        .gt(0)
        .lt(1)
        .describe('The part of requests that must be good: 0.999 allows one bad in 1,000.'),
    }),
  )
  .refine(isDistinct, {
    error: 'must not have two of the same name or the same meaning',
  })
  .prefault([])
  .describe('Objectives: an anomaly opens when the error budget of one burns too fast.');
