import { z } from 'zod';
import type { Verdict } from '../../../compare/comparison.ts';
import { Problem } from '../../http/problem.ts';
import { checked } from '../http/explain-request.ts';
import type { Parameters } from '../http/read-request.ts';

/** Names of a model, a version and the version that it is compared with, and since when. */
export interface ReleaseQuery {
  readonly model: string;
  readonly version: string;
  readonly baseline: string;
  /** RFC 3339 or a duration; undefined: since the version's first request. */
  readonly since: string | undefined;
  /** What decides beside failures; undefined: whole requests, milestones and measures of both versions, goodput. */
  readonly stages: readonly string[] | undefined;
}

const name = z.string().min(1).max(4096);

/** Most stages of a verdict. */
const mostStages = 20;

/** The stages that decide, such as `total,first_token`; the default where the text is empty. */
export const stagesParameter = z
  .string()
  .max(2048)
  .transform((text, context) => {
    if (text.trim() === '') return undefined;
    const stages = [...new Set(text.split(',').map((stage) => stage.trim()))];
    if (stages.length <= mostStages && !stages.includes('')) return stages;
    context.addIssue({
      code: 'custom',
      message: `must be at most ${mostStages} names of stages with commas between, such as total,first_token`,
    });
    return z.NEVER;
  })
  .optional()
  .describe(
    'Stages whose durations decide, with commas between, and goodput for joint objectives. Default: total, each milestone and time per token that both versions have, and goodput.',
  );

/** Fields of a release, as query parameters or as Flagger's `metadata`. */
export const releaseSchema = z.strictObject({
  model: name,
  version: name,
  baseline: name,
  since: z.string().max(64).optional(),
  stages: stagesParameter,
});

/** The body that Flagger posts: name, namespace, phase, and `metadata` as it was configured. */
const webhookSchema = z.object({ metadata: z.record(z.string(), z.string()).optional() });

/**
 * The release that a verdict or a gate is asked of: query parameters, completed by `metadata` of a gate's
 * body.
 *
 * @param body as it came; undefined where none is read.
 * @throws Problem 400
 */
export function releaseOf(parameters: Parameters, body?: string): z.output<typeof releaseSchema> {
  const isGate = body !== undefined;
  const metadata = metadataOf(body);
  const given = { ...metadata, ...parameters };
  for (const [name, value] of Object.entries(metadata)) {
    if (given[name] === value) continue;
    const both = `${JSON.stringify(given[name])} as a parameter, ${JSON.stringify(value)} in metadata`;
    throw new Problem(400, `${name} must be given once; it is ${both}.`);
  }
  const where = ', as a parameter or in metadata';
  const release = checked(releaseSchema, given, {
    what: 'parameter',
    ...(isGate ? { where } : {}),
  });
  if (release.version !== release.baseline) return release;
  const detail = `version and baseline must be two versions: both are ${JSON.stringify(release.version)}.`;
  throw new Problem(400, detail);
}

function metadataOf(body = ''): Record<string, string> {
  if (body.trim() === '') return {};
  try {
    const { metadata = {} } = webhookSchema.parse(JSON.parse(body));
    // Flagger's users keep other things there too.
    const ours = Object.keys(releaseSchema.shape);
    return Object.fromEntries(Object.entries(metadata).filter(([key]) => ours.includes(key)));
  } catch {
    throw new Problem(400, 'The body must be JSON with metadata of texts, as Flagger posts it.');
  }
}

/** The verdict that opens each gate. */
const opening = { promote: 'pass', rollback: 'fail' } as const satisfies Record<string, Verdict>;
export type Gate = keyof typeof opening;

/**
 * Flagger knows success and failure only, so three verdicts need two gates: 200 opens one, 409 keeps it shut.
 */
export function gateStatus(gate: Gate, verdict: Verdict): 200 | 409 {
  return opening[gate] === verdict ? 200 : 409;
}
