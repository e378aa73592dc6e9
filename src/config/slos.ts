import { z } from 'zod';
import {
  attributePrefix,
  type DimensionName,
  dimensions,
  isStageName,
  objectivePrefix,
  totalStage,
} from '../base/dimensions.ts';
import { limits } from '../base/limits.ts';
import { dayMs, hourMs } from '../base/time.ts';
import { requiredDuration } from './setting-types.ts';

/** Largest milliseconds of a good request, by stage. */
export type Thresholds = Readonly<Record<string, number>>;

/** Patterns that values of dimensions match; a dimension that is not named matches anything. */
export type Match = Readonly<Partial<Record<DimensionName, string>>>;

/** Thresholds that ingest counts request by request, and which requests: those of any match. */
export interface CountedObjective {
  readonly thresholds: Thresholds;
  readonly match: readonly Match[];
}

/** Periods of an error budget, in milliseconds. */
export const sloWindows = { '7d': 7 * dayMs, '28d': 28 * dayMs, '30d': 30 * dayMs } as const;

const threshold = requiredDuration(1, hourMs);
const isOfRequest = (stage: string) => stage === totalStage || isStageName(stage);
const pattern = (dimension: string) =>
  z.string().min(1).max(256).optional().describe(`Only requests of this ${dimension}.`);

const match = z.strictObject({
  service: pattern('service'),
  model: pattern('model'),
  version: pattern('version'),
  request_type: pattern('request type'),
  region: pattern('region'),
  host: pattern('host'),
  tenant: pattern('tenant'),
  cold_start: z.boolean().optional().describe('Only cold starts, or only others.'),
  attributes: z
    .record(z.string(), z.string().min(1).max(256))
    .optional()
    .describe('Own dimensions, likewise.'),
});

const slo = z
  .strictObject({
    name: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('Name in events. Default: made from the objective.'),
    model: z
      .string()
      .min(1)
      .optional()
      .describe('A model, or several: * matches any characters. Default: all.'),
    request_type: z.string().min(1).optional().describe('Only requests of this type.'),
    match: match
      .optional()
      .describe(
        'Only requests with these values, * matches any characters: any of `windows.dimensions`.',
      ),
    stage: z
      .string()
      .optional()
      .describe(
        'Stage that the threshold is of: a part, a milestone or a time per token. Default: `total`.',
      ),
    threshold: threshold
      .optional()
      .describe('A request that takes longer or fails is bad. Required without `all`.'),
    all: z
      .record(z.string(), threshold)
      .optional()
      .describe(
        'Thresholds by stage. A request that misses one of those that it has, or fails, is bad. Counted exactly, from ingest on.',
      ),
    objective: z
      .number()
      .gt(0)
      .lt(1)
      .describe('The part of requests that must be good: 0.999 allows one bad in 1,000.'),
    window: z
      .enum(['7d', '28d', '30d'])
      .default('30d')
      .describe('Period of the error budget; burn rates that page follow from it.'),
  })
  .superRefine(({ model, request_type, match, stage, threshold, all }, context) => {
    const problem = (path: string[], message: string, found?: string) => {
      const params = found === undefined ? {} : { params: { found } };
      context.addIssue({ code: 'custom', path, message, ...params });
    };
    if (all === undefined) {
      if (threshold === undefined) problem(['threshold'], 'must be set, or all');
    } else {
      if (threshold !== undefined) problem(['threshold'], 'must not be set with all');
      if (stage !== undefined) problem(['stage'], 'must not be set with all');
      if (Object.keys(all).length === 0) problem(['all'], 'must name a stage');
    }
    for (const [key, value] of Object.entries({ model, request_type })) {
      if (value === undefined || match?.[key as 'model' | 'request_type'] === undefined) continue;
      problem(['match', key], `must not be set with ${key}`);
    }
    if (stage !== undefined && !isOfRequest(stage)) {
      problem(['stage'], 'must be the name of a stage', `it is ${JSON.stringify(stage)}`);
    }
    for (const name of Object.keys(all ?? {}).filter((each) => !isOfRequest(each))) {
      problem(['all', name], 'must be the name of a stage', `it is ${JSON.stringify(name)}`);
    }
  });

export type Slo = z.output<typeof slo>;

/** Requires distinct names, and distinct objectives where they have no names. */
function areDistinct(given: readonly Slo[]): boolean {
  return new Set(given.map((each) => each.name ?? JSON.stringify(each))).size === given.length;
}

/** Objectives for requests: `detect.slos`. */
export const slos = z
  .array(slo)
  .refine(areDistinct, { error: 'must not have two of the same name or the same meaning' })
  .superRefine((given, context) => {
    const counted = countedObjectives(given);
    const bytes = Buffer.byteLength(JSON.stringify(counted));
    const problem = (message: string, found: string) =>
      context.addIssue({ code: 'custom', message, params: { found } });
    if (counted.length > limits.jointObjectives) {
      const most = `at most ${limits.jointObjectives} different sets of thresholds under all`;
      problem(`must have ${most}`, `it has ${counted.length}`);
    } else if (bytes > limits.jointObjectiveBytes) {
      const most = `at most ${limits.jointObjectiveBytes} bytes of thresholds under all with what they match`;
      problem(`must have ${most}`, `it has ${bytes}`);
    }
  })
  .prefault([])
  .describe('Objectives: an anomaly opens when the error budget of one burns too fast.');

/** What an objective matches, however it is written. */
export function matchOf({ model, request_type, match = {} }: Slo): Match {
  const { cold_start, attributes = {}, ...patterns } = match;
  const given = {
    ...patterns,
    ...(model !== undefined && { model }),
    ...(request_type !== undefined && { request_type }),
    ...(cold_start !== undefined && { cold_start: String(cold_start) }),
  };
  const own = Object.keys(attributes).sort();
  return Object.fromEntries([
    ...dimensions.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])),
    ...own.map((name) => [attributePrefix + name, attributes[name]]),
  ]);
}

/** Dimensions that objectives name under `match`, each with its place and the path below it. */
export function matchedDimensions(given: readonly Slo[]) {
  return given.flatMap(({ match = {} }, place) => [
    ...dimensions
      .filter((name) => match[name] !== undefined)
      .map((name) => ({ place, name: name as DimensionName, path: [name] as string[] })),
    ...Object.keys(match.attributes ?? {}).map((key) => ({
      ...{ place, path: ['attributes', key] },
      name: `${attributePrefix}${key}` as const,
    })),
  ]);
}

/**
 * Name of the row that counts these thresholds. It is made of them alone: other thresholds have another row,
 * so that counts of before a change keep their meaning.
 */
export function objectiveRow(thresholds: Thresholds): string {
  const parts = Object.keys(thresholds)
    .sort()
    .map((stage) => `${stage}<=${thresholds[stage]}`);
  return objectivePrefix + parts.join(',');
}

/** Distinct thresholds of joint objectives, each with all that it is to be counted for. */
export function countedObjectives(given: readonly Slo[]): CountedObjective[] {
  const counted = new Map<string, { thresholds: Thresholds; match: Match[] }>();
  for (const each of given) {
    if (each.all === undefined) continue;
    const row = objectiveRow(each.all);
    const known = counted.get(row) ?? { thresholds: each.all, match: [] };
    counted.set(row, known);
    const own = matchOf(each);
    const isKnown = known.match.some((other) => JSON.stringify(other) === JSON.stringify(own));
    if (!isKnown) known.match.push(own);
  }
  return [...counted.values()];
}
