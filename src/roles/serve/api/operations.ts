import { z } from 'zod';
import { muteRequestSchema, muteSchema } from '../../../alert/routing/mute-request.ts';
import { decidingQuantiles } from '../../../compare/compare-options.ts';
import { comparedGoodputs } from '../../../views/answers/compare.ts';
import { autoscaleSchema } from './autoscale.ts';
import { releaseSchema } from './gate.ts';

/** One request of the API that is no question of the dashboard, as `/openapi.json` describes it. */
export interface Operation {
  readonly method: 'get' | 'post' | 'delete';
  readonly path: `/${string}`;
  readonly id: string;
  readonly summary: string;
  /** Of the query, or of the path where it names them. */
  readonly parameters?: z.ZodObject;
  readonly body?: z.ZodType;
  /** True where the operation can be asked without a body. @default false */
  readonly isBodyOptional?: boolean;
  /** Those who may ask: everybody, all who may read, the holder of the token of the operator. */
  readonly access: 'everybody' | 'readers' | 'operator';
  /** Of each status but errors: what it means, and the form of a JSON answer. */
  readonly answers: Readonly<
    Record<
      number,
      { readonly description: string; readonly json?: z.ZodType; readonly type?: string }
    >
  >;
  /** Statuses of errors, apart from those that any operation of its access has. */
  readonly errors: readonly (400 | 401 | 403 | 404 | 413 | 429 | 503)[];
}

const count = z.number().int().min(0);
const moment = z.iso.datetime();
const optionalNumber = z.number().nullable();

const quantile = z.strictObject({
  q: z.number(),
  candidate_ms: optionalNumber,
  baseline_ms: optionalNumber,
  ratio: optionalNumber.describe('Of the candidate to the baseline.'),
  ratio_low: optionalNumber,
  ratio_high: optionalNumber.describe('Interval that holds however often it is asked.'),
});

const verdictAnswer = z.strictObject({
  verdict: z.enum(['pass', 'fail', 'inconclusive']),
  reason: z.string(),
  missing_requests: count.describe('Requests of the candidate until there is a verdict.'),
  minutes: count.describe('Minutes in which both versions have requests.'),
  requests: z.strictObject({ candidate: count, baseline: count }),
  failures: z.strictObject({
    candidate: count,
    baseline: count,
    candidate_share: z.number(),
    baseline_share: z.number(),
  }),
  failed_at: moment.nullable(),
  failed_by: z
    .union([z.enum(['failures', 'goodput']), z.literal([...decidingQuantiles])])
    .nullable(),
  failed_stage: z
    .string()
    .nullable()
    .describe('The stage that failed; null where failures or goodput did.'),
  failed_objective: z
    .string()
    .nullable()
    .describe('The joint objective whose goodput failed; null otherwise.'),
  tested_stages: z.array(z.string()).describe('Stages whose durations decide, beside failures.'),
  tested_objectives: z
    .array(z.string())
    .describe('Joint objectives whose goodput decides. Those of the same thresholds are one.'),
  quantiles: z.array(quantile),
  stages: z.array(
    z.strictObject({
      stage: z.string(),
      quantiles: z.array(quantile),
      excess_ms: optionalNumber,
      share_of_excess: optionalNumber,
    }),
  ),
  goodput: comparedGoodputs.describe(
    'Goodput of the baseline (`a`) and the version (`b`) by each joint objective of `detect.slos` that may be of the model.',
  ),
  since: moment.nullable().describe('Null for a version without a request in the last day.'),
});

const autoscaleAnswer = z.strictObject({
  value: z.number().describe('The quantile over its objective: above 1 it is missed.'),
  quantile_ms: z.number(),
  objective_ms: z.number(),
  requests: count,
  from: moment,
  to: moment,
});

const gateBody = z
  .looseObject({ metadata: z.record(z.string(), z.string()).optional() })
  .describe('What Flagger posts. `metadata` may name model, version, baseline, since and stages.');
const text = (description: string) => ({ description, type: 'text/plain' });

const gate = (name: 'promote' | 'rollback', opens: string): Operation => ({
  ...{ method: 'post', path: `/v1/gate/${name}`, id: name, access: 'readers' },
  summary: `A gate of Flagger: open where the verdict is ${opens}.`,
  parameters: releaseSchema.partial(),
  body: gateBody,
  isBodyOptional: true,
  answers: {
    200: text(`The verdict is ${opens}.`),
    409: text('It is another one; the text says why.'),
  },
  errors: [400, 413, 503],
});

/** Those that machines ask: rollouts, autoscalers, alerting, monitoring, and the login of a browser. */
export const operations: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/v1/verdict', id: 'verdict', access: 'readers' },
    summary: 'Whether a version is slower, or fails more often, than the one it replaces.',
    parameters: releaseSchema,
    answers: { 200: { description: 'The verdict.', json: verdictAnswer } },
    errors: [400, 503],
  },
  gate('promote', 'pass'),
  gate('rollback', 'fail'),
  {
    ...{ method: 'get', path: '/v1/autoscale', id: 'autoscale', access: 'readers' },
    summary: 'The load of a stage, as a quantile over its objective.',
    parameters: autoscaleSchema,
    answers: { 200: { description: 'The load.', json: autoscaleAnswer } },
    errors: [400, 503],
  },
  {
    ...{ method: 'get', path: '/v1/mutes', id: 'mutes', access: 'readers' },
    summary: 'Mutes that hold now or later.',
    answers: {
      200: { description: 'The mutes.', json: z.strictObject({ mutes: z.array(muteSchema) }) },
    },
    errors: [400, 503],
  },
  {
    ...{ method: 'post', path: '/v1/mutes', id: 'addMute', access: 'operator' },
    summary: 'Mutes some anomalies for a time.',
    body: muteRequestSchema,
    answers: {
      201: {
        description: 'The mute, and sentences on what it names and no recent event has.',
        json: z.strictObject({ mute: muteSchema, notes: z.array(z.string()) }),
      },
    },
    errors: [400, 413, 503],
  },
  {
    ...{ method: 'delete', path: '/v1/mutes/{id}', id: 'endMute', access: 'operator' },
    summary: 'Ends a mute now.',
    parameters: z.strictObject({ id: z.string().min(1).max(200) }),
    answers: {
      200: { description: 'The mute that ended.', json: z.strictObject({ mute: muteSchema }) },
    },
    errors: [400, 404, 503],
  },
  {
    ...{ method: 'post', path: '/v1/login', id: 'login', access: 'everybody' },
    summary: 'Opens a session for a token: the answer sets its cookie.',
    body: z.object({ token: z.string() }),
    answers: { 204: { description: 'The session is open.' } },
    errors: [400, 401, 404, 413, 429],
  },
  {
    ...{ method: 'post', path: '/v1/logout', id: 'logout', access: 'everybody' },
    summary: 'Ends the session of the cookie.',
    answers: { 204: { description: 'There is no session any more.' } },
    errors: [404],
  },
  {
    ...{ method: 'get', path: '/openapi.json', id: 'openapi', access: 'readers' },
    summary: 'This document.',
    answers: {
      200: { description: 'OpenAPI 3.1.', json: z.looseObject({ openapi: z.string() }) },
    },
    errors: [400],
  },
  {
    ...{ method: 'get', path: '/healthz', id: 'healthz', access: 'everybody' },
    summary: 'Whether the process runs.',
    answers: { 200: text('It does.') },
    errors: [],
  },
  {
    ...{ method: 'get', path: '/readyz', id: 'readyz', access: 'everybody' },
    summary: 'Whether the process is ready, and why not.',
    answers: { 200: text('It is; then warnings.'), 503: text('The reasons, a line each.') },
    errors: [],
  },
  {
    ...{ method: 'get', path: '/metrics', id: 'metrics', access: 'everybody' },
    summary: 'Metrics in the text format of Prometheus.',
    answers: { 200: text('The metrics.') },
    errors: [],
  },
];
