import { z } from 'zod';
import { answerOf, count, time } from './common.ts';

const stageMs = z.strictObject({ stage: z.string(), ms: z.number() });

const milestones = z.array(stageMs).describe('Times from the start to a point: no parts.');

const tokens = z.number().nullable().describe('Of the request; null where its event has none.');

/** One of the slowest requests that are kept. */
const requestRow = z.strictObject({
  at: time,
  total_ms: z.number(),
  status: z.string(),
  version: z.string(),
  request_type: z.string(),
  region: z.string(),
  host: z.string(),
  cold_start: z.boolean(),
  stage_ms: z.number().describe('Time in the stage that was asked for; without one the total.'),
  trace_id: z.string(),
  trace_url: z.string().nullable().describe('`alert.trace_url` with the trace id; null without.'),
  request_id: z.string(),
  stages: z.array(stageMs).describe('Parts of the total, in the order of the request.'),
  milestones,
  input_tokens: tokens,
  output_tokens: tokens,
});

/** Time of requests around a quantile in each stage, to compare one request with. */
const typicalRequest = z.strictObject({
  q: z.number(),
  total_ms: z.number().nullable(),
  stages: z.array(stageMs),
  milestones,
});

export const requestsAnswer = answerOf(requestRow).extend({
  failed: z
    .array(
      z.strictObject({
        status: z.string(),
        requests: count.describe('All of the range, as percentiles and shares count them.'),
      }),
    )
    .describe('Failed requests by status. The slowest of those that are kept come last in `rows`.'),
  typical: z.array(typicalRequest).describe('Of the median and of p99: the bands that hold them.'),
});
export type RequestRow = z.output<typeof requestRow>;
export type RequestsAnswer = z.output<typeof requestsAnswer>;
