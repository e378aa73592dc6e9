import { z } from 'zod';

const range = z.tuple([z.int().min(0), z.int().min(0)]);

const stage = z.strictObject({
  median_ms: z.number().gt(0),
  sigma: z.number().min(0).describe('Of the logarithm.'),
  per_token: z.boolean().default(false).describe('For each output token after the first.'),
});

/** A stage that lasts from the start to the end of the one before it. */
const milestone = z.strictObject({ milestone: z.literal(true) });

const series = z.strictObject({
  model: z.string(),
  version: z.string().default(''),
  region: z.string().default(''),
  request_type: z.string().default(''),
  cold_start: z.boolean().default(false),
  requests: z.number().min(0).describe('In each window; below 1, one in so many of the windows.'),
  partial: z.boolean().default(false).describe('Events without a total.'),
  stages: z.record(z.string(), z.union([stage, milestone])),
  output_tokens: z
    .strictObject({ median: z.number(), sigma: z.number() })
    .optional()
    .describe('With `first_token`: time_per_output_token is derived, as at ingest.'),
  restless: z
    .strictObject({
      stage: z.string(),
      share: z.number().describe('Of requests that are slow in an average window.'),
      factor: z.number().describe('How slow.'),
      sigma: z.number().describe('Of the logarithm of the share over windows.'),
      memory: z.number().min(0).lt(1).default(0).describe('Correlation of neighbouring windows.'),
    })
    .optional(),
});

const fault = z.strictObject({
  series: z.union([z.int(), z.array(z.int())]).default(0),
  windows: range.describe('First and last window, both included.'),
  every: z.int().min(1).default(1).describe('Only blocks of this many windows, every other one.'),
  stage: z.string().optional(),
  factor: z.number().default(1),
  share: z.number().default(1).describe('Of requests.'),
  slow_share: z.number().optional().describe('Instead of the `share` of `restless`.'),
  timeout_ms: z
    .number()
    .optional()
    .describe('These requests get no answer from the stage: so long in all, and status timeout.'),
  output_tokens: z.number().default(1).describe('Factor of the tokens of an answer.'),
  requests: z.int().min(0).optional().describe('Traffic instead of the baseline; 0: no window.'),
});

const expectation = z.strictObject({
  kind: z.string().optional(),
  windows: range.describe('Range of the window whose evaluation emits the event.'),
  series: z.int().default(0),
  state: z.enum(['opened', 'updated', 'resolved']),
  started: range.optional().describe('Range of the window that the event gives as its start.'),
  stage: z.string().optional(),
  min_share: z.number().optional(),
  measured: z.string().optional(),
  severity: z.string().optional(),
  bottleneck: z.string().optional(),
  resolution: z.string().optional(),
  hit: z.tuple([z.int(), z.int()]).optional().describe('Series that it has hit, and of how many.'),
  common: z.record(z.string(), z.string()).optional().describe('What these have in common.'),
});

/** Traffic for the detector, and all events that it must emit for pagers. */
export const scenarioSchema = z.strictObject({
  title: z.string(),
  seed: z.int(),
  windows: z.int().min(1),
  detect: z.record(z.string(), z.unknown()).default({}).describe('The `detect` block.'),
  series: z.array(series).min(1),
  faults: z.array(fault).default([]),
  restarts: z.array(z.int()).default([]).describe('Each alone must leave every event as it is.'),
  restart_history: z.int().optional().describe('Windows replayed at a restart; absent: all.'),
  expect: z.array(expectation),
});

export type Scenario = z.output<typeof scenarioSchema>;
