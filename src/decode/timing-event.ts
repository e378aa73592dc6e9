import { z } from 'zod';
import {
  gapStage,
  isStageName,
  kindOfName,
  milestoneStage,
  overflowValue,
  stageName,
  stageNameRule,
  standardStages,
  totalStage,
} from '../base/dimensions.ts';
import { limits } from '../base/limits.ts';
import { statuses } from '../base/statuses.ts';
import {
  attributeNames,
  type ConfiguredNames,
  type OwnAttributes,
  ownAttributes,
} from '../series/own-attributes.ts';
import { epochMsOf } from './epoch-ms-of.ts';
import { isPlausibleTs } from './is-plausible-ts.ts';
import type { RejectReason } from './reject-reasons.ts';

/** Limits of events. Of their `attributes` those are read that are configured dimensions and facets. */
export interface TimingEventLimits extends ConfiguredNames {
  readonly maxDurationMs: number;
  /** Longest dimension value, `id` or `trace_id`, in UTF-8 bytes. Only of `model` a longer one rejects the event. */
  readonly maxDimensionBytes: number;
}

/** Issue with its own reason; other issues have the reason of their field. */
function problem(reason: RejectReason, message: string, path: string[] = []) {
  return { code: 'custom', params: { reason }, message, path } as const;
}

const ts = z
  .union([z.number(), z.string()], {
    error: 'must be epoch milliseconds (a number) or an RFC 3339 date-time with an offset',
  })
  .meta({ examples: [1789000000123, '2026-09-10T00:26:40.123Z'] })
  .transform((input, context) => {
    const ms = typeof input === 'number' ? Math.floor(input) : epochMsOf(input);
    if (Number.isNaN(ms)) {
      context.addIssue(
        problem('bad_ts', 'must be an RFC 3339 date-time with an offset, or epoch milliseconds'),
      );
    } else if (!isPlausibleTs(ms)) {
      const rule = 'must lie in the years 2000 to 2099, in milliseconds since 1970';
      context.addIssue(problem('ts_out_of_range', rule));
    }
    return ms;
  });

const isTooLong = (value: string, maxBytes: number) =>
  // A text of few UTF-16 units cannot have many bytes.
  value.length * 3 > maxBytes && Buffer.byteLength(value) > maxBytes;

const isFree = (value: string, context: z.RefinementCtx) => {
  if (value !== overflowValue) return;
  context.addIssue(problem('bad_dimension', 'must be another text, as this one is reserved'));
};

/** The model, without which the request has no series. */
function modelText(maxBytes: number) {
  const rule = `must be a string of at most ${maxBytes} UTF-8 bytes`;
  return z
    .string(rule)
    .superRefine((value, context) => {
      if (isTooLong(value, maxBytes)) context.addIssue(problem('bad_dimension', rule));
    })
    .superRefine(isFree)
    .min(1, 'must not be empty');
}

/** JSON Schema of `stages_ms` and `milestones_ms`, which are checked by hand. */
const stagesSchema = (maxMs: number, example: Readonly<Record<string, number>>) =>
  ({
    type: 'object',
    propertyNames: { pattern: stageName.source, not: { const: totalStage } },
    additionalProperties: { type: 'number', minimum: 0, maximum: maxMs },
    maxProperties: limits.stagesPerEvent,
    examples: [example],
  }) as const;

/**
 * Schema of the stages. A zod record would ignore a key `__proto__` silently, so they are checked by hand.
 * Only own keys count, so `constructor` is a stage like any other.
 */
function stages(
  maxMs: number,
  { nameOf, example }: { nameOf: (name: string) => string; example: Record<string, number> },
) {
  const described = z.unknown().meta(stagesSchema(maxMs, example));
  return described.transform((input, context): Readonly<Record<string, number>> => {
    if (typeof input !== 'object' || input === null || Array.isArray(input)) {
      context.addIssue(
        problem('bad_duration', 'must be an object of stage names and milliseconds'),
      );
      return {};
    }
    const entries = Object.entries(input);
    if (entries.length > limits.stagesPerEvent) {
      const rule = `must have at most ${limits.stagesPerEvent} stages, not ${entries.length}`;
      context.addIssue(problem('too_many_stages', rule));
    }
    for (const [name, ms] of entries) {
      if (!isStageName(name) || !isStageName(nameOf(name))) {
        context.addIssue(problem('bad_stage_name', stageNameRule, [name]));
      } else if (typeof ms !== 'number' || !Number.isFinite(ms) || ms < 0) {
        context.addIssue(problem('bad_duration', 'must be a finite number >= 0', [name]));
      } else if (ms > maxMs) {
        context.addIssue(problem('duration_too_large', `must be at most ${maxMs} ms`, [name]));
      }
      if (context.issues.length > 0) break;
    }
    return input as Record<string, number>;
  });
}

const plainName = (name: string) => name;

/** A number of JSON, as the name of a count. */
const millisecondsName = /^(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * Gaps between tokens: an array, or counts by milliseconds, which become one. Checked by hand: a schema of each
 * element would cost some µs.
 */
function gaps(maxMs: number) {
  const described = z.unknown().meta({
    anyOf: [
      {
        type: 'array',
        items: { type: 'number', minimum: 0, maximum: maxMs },
        maxItems: limits.gapsPerEvent,
      },
      {
        type: 'object',
        propertyNames: { pattern: millisecondsName.source },
        additionalProperties: { type: 'integer', minimum: 0, maximum: limits.gapsPerEvent },
      },
    ],
    examples: [[21.4, 19.8, 250.2], { '20': 3, '250.2': 1 }],
  });
  return described.transform((input, context): readonly number[] => {
    const issue = Array.isArray(input) ? gapsIssue(input, maxMs) : gapCountsIssue(input, maxMs);
    if (issue !== undefined) {
      context.addIssue(issue);
      return [];
    }
    if (Array.isArray(input)) return input;
    return Object.entries(input as Record<string, number>)
      .toSorted(([a], [b]) => Number(a) - Number(b))
      .flatMap(([ms, count]) => Array<number>(count).fill(Number(ms)));
  });
}

const tooManyGaps = (count: number) =>
  problem('bad_field', `must have at most ${limits.gapsPerEvent} gaps, not ${count}`);

function gapsIssue(gaps: readonly unknown[], maxMs: number) {
  if (gaps.length > limits.gapsPerEvent) return tooManyGaps(gaps.length);
  const wrong = gaps.findIndex((ms) => !(isDuration(ms) && ms <= maxMs));
  if (wrong < 0) return undefined;
  return isDuration(gaps[wrong])
    ? problem('duration_too_large', `must be at most ${maxMs} ms`, [String(wrong)])
    : problem('bad_duration', 'must be a finite number >= 0', [String(wrong)]);
}

/** The first issue of counts by milliseconds. */
function gapCountsIssue(counts: unknown, maxMs: number) {
  if (typeof counts !== 'object' || counts === null) {
    const rule = 'must be an array of milliseconds, or an object of counts by milliseconds';
    return problem('bad_duration', rule);
  }
  let total = 0;
  for (const [name, count] of Object.entries(counts)) {
    const ms = millisecondsName.test(name) ? Number(name) : Number.NaN;
    if (!isDuration(ms)) {
      return problem('bad_duration', 'must have milliseconds for its name', [name]);
    }
    if (ms > maxMs) return problem('duration_too_large', `must be of at most ${maxMs} ms`, [name]);
    if (!Number.isSafeInteger(count) || count < 0) {
      return problem('bad_field', 'must be a whole number >= 0', [name]);
    }
    total += count;
  }
  return total > limits.gapsPerEvent ? tooManyGaps(total) : undefined;
}

function isDuration(ms: unknown): ms is number {
  return typeof ms === 'number' && Number.isFinite(ms) && ms >= 0;
}

/** Fields that identify a request and its origin. */
function textFields(maxBytes: number) {
  const dimension = (description: string, example: string) =>
    z
      .string('must be a string')
      .superRefine(isFree)
      .meta({ not: { const: overflowValue }, examples: [example] })
      .transform((value) => (isTooLong(value, maxBytes) ? overflowValue : value))
      .nullish()
      .meta({ description });
  const label = (description: string, example: string) =>
    z
      .string('must be a string')
      .meta({ examples: [example] })
      .transform((value) => (isTooLong(value, maxBytes) ? undefined : value))
      .nullish()
      .meta({ description });
  return {
    model: modelText(maxBytes).meta({
      maxLength: maxBytes,
      not: { const: overflowValue },
      description: 'Model that answered.',
      examples: ['ranker'],
    }),
    version: dimension('Version of the model.', '2026-11-01'),
    request_type: dimension('Kind of request, as the service names it.', 'search'),
    region: dimension('Where it ran.', 'eu-west-1'),
    service: dimension('Service that answered.', 'rank-api'),
    host: dimension('Pod or machine that answered.', 'pod-7'),
    tenant: dimension('Customer or team the request was for.', 'acme'),
    id: label('Id of the request, for exemplars.', 'req-81f3'),
    trace_id: label(
      'Trace the request is part of, for exemplars.',
      '4bf92f3577b34da6a3ce929d0e0e4736',
    ),
  };
}

/**
 * A team's own dimensions and facets. Only configured names are read: whatever else an event has here is ignored, and
 * all of it where none is configured.
 */
function attributes(bounds: TimingEventLimits) {
  const names = attributeNames(bounds);
  return z
    .unknown()
    .meta({
      type: 'object',
      additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
      examples: [{ adapter: 'lora-7', gpu: 'h100' }],
    })
    .transform((given, context): OwnAttributes | undefined => {
      if (names === undefined) return undefined;
      const read = ownAttributes(given, names, bounds.maxDimensionBytes);
      if (!('rule' in read)) return read;
      const [reason, path] =
        read.name === '' ? (['bad_field', []] as const) : (['bad_dimension', [read.name]] as const);
      context.addIssue(problem(reason, read.rule, [...path]));
      return undefined;
    })
    .optional();
}

const flag = (description: string, example: boolean) =>
  z
    .boolean('must be true or false')
    .nullish()
    .meta({ description, examples: [example] });

const nonNegative = z.number('must be a finite number >= 0').min(0, 'must be a finite number >= 0');

const amount = (description: string, example: number) =>
  nonNegative.nullish().meta({ description, examples: [example] });

const weightRule = `must be a whole number from 1 to ${limits.eventWeight}`;

/** Outcome and other properties of a request. */
const otherFields = {
  status: z
    .enum(statuses, `must be one of ${statuses.join(', ')}`)
    .nullish()
    .meta({ description: 'How the request ended; absent: ok.', examples: ['ok'] }),
  cold_start: flag(
    'Whether the request waited for a model to load. Cold and warm requests never mix.',
    false,
  ),
  cache_hit: flag('Whether a cache answered.', true),
  batch_size: amount('Requests in the batch it was computed in.', 8),
  request_bytes: amount('Size of the request.', 18211),
  response_bytes: amount('Size of the response.', 912),
  input_tokens: amount('Tokens read.', 512),
  output_tokens: amount('Tokens generated.', 128),
  concurrency: amount('Requests in flight when it arrived.', 12),
  queue_depth: amount('Requests waiting when it arrived.', 3),
  weight: z
    .int(weightRule)
    .min(1, weightRule)
    .max(limits.eventWeight, weightRule)
    .nullish()
    .meta({
      description:
        'Requests that the event stands for, where only one in so many is published: it counts so many times. Absent: 1.',
      examples: [10],
    }),
};

/**
 * Contract of one timing event, JSON v1: it defines all that the decoder accepts and rejects. Unknown fields
 * are ignored; `null` counts as absent. config/timing-event.schema.json and the table of
 * docs/reference/event.md are generated from it.
 */
export function timingEvent(bounds: TimingEventLimits) {
  const { maxDurationMs, maxDimensionBytes } = bounds;
  return z
    .object({
      ts: ts.meta({
        description:
          'Start of the request: milliseconds since the Unix epoch (fractions are cut), or an RFC 3339 date-time with `Z` or an offset. Years 2000 to 2099. The request counts when it ends: in the window of `ts` plus its total.',
      }),
      ...textFields(maxDimensionBytes),
      ...otherFields,
      attributes: attributes(bounds).meta({
        description:
          "The team's own dimensions and facets: texts, numbers or booleans by name. Those are read that `windows.dimensions` or `windows.facets` name, as `attributes.adapter`; all others are ignored.",
      }),
      total_ms: nonNegative
        .max(maxDurationMs, `must be at most ${maxDurationMs} ms`)
        .nullish()
        .meta({
          description:
            'Duration of the whole request, kept as the stage `total`. Absent: the sum of the stages that are no milestones, unless `partial`.',
          examples: [84.1],
        }),
      stages_ms: stages(maxDurationMs, {
        nameOf: plainName,
        example: { queue: 6.4, forward: 51.7 },
      })
        .nullish()
        .meta({
          description: `Duration of each stage by its name. Standard names: ${standardStages.join(', ')}; any other is allowed. Leave out a stage that did not run.`,
        }),
      milestones_ms: stages(maxDurationMs, {
        nameOf: milestoneStage,
        example: { first_token: 312.5, headers: 20.1 },
      })
        .nullish()
        .meta({
          description:
            'Time from the start to a point of the request, by its name. A milestone is kept as a stage and is no part of the total: `first_token`, `ttft`, `ttfb` and `time_to_…` under these names, `headers` as `time_to_headers`.',
        }),
      itl_ms: gaps(maxDurationMs)
        .nullish()
        .meta({
          description: `Gaps between the tokens of the answer as they arrived (inter-token latency): the first from the first token to the second, or how many there are of each length. Each is one sample of the stage \`${gapStage}\`, which is no part of the total.`,
        }),
      partial: flag(
        'The event reports some stages of a request: no total is made from their sum.',
        false,
      ),
    })
    .check((context) => {
      if (context.issues.length > 0) return;
      const issue = durationsIssue(context.value, maxDurationMs);
      if (issue !== undefined) context.issues.push({ ...issue, path: [], input: context.value });
    })
    .meta({
      title: 'tailmark timing event, v1',
      description: 'Durations of one inference request, or of some of its stages.',
      anyOf: [
        { required: ['stages_ms'] },
        { required: ['total_ms'] },
        { required: ['milestones_ms'] },
      ],
    });
}

interface Durations {
  readonly total_ms?: number | null | undefined;
  readonly stages_ms?: Readonly<Record<string, number>> | null | undefined;
  readonly milestones_ms?: Readonly<Record<string, number>> | null | undefined;
  readonly partial?: boolean | null | undefined;
}

/** Issue of an event's durations taken together. */
function durationsIssue({ total_ms, partial, ...given }: Durations, maxMs: number) {
  const stages = Object.entries(given.stages_ms ?? {});
  const milestones = Object.keys(given.milestones_ms ?? {}).map(milestoneStage);
  const count = stages.length + milestones.length;
  if (milestones.length > 0 && count > limits.stagesPerEvent) {
    const rule = `must have at most ${limits.stagesPerEvent} stages with milestones, not ${count}`;
    return problem('too_many_stages', rule);
  }
  const repeated = milestones.find(
    (name, i) => milestones.indexOf(name) < i || stages.some(([stage]) => stage === name),
  );
  if (repeated !== undefined) {
    return problem('bad_stage_name', `must have the stage ${repeated} once`);
  }
  if (typeof total_ms === 'number') return undefined;
  if (count === 0) {
    return problem('missing_durations', 'must have total_ms or at least one stage in stages_ms');
  }
  const parts = stages.filter(([name]) => kindOfName(name) === 'part');
  if (partial === true || parts.reduce((sum, [, ms]) => sum + ms, 0) <= maxMs) return undefined;
  return problem('duration_too_large', `must have stages that add up to at most ${maxMs} ms`);
}

/** A valid event: `ts` is milliseconds since the epoch, whichever form was given. */
export type TimingEvent = z.output<ReturnType<typeof timingEvent>>;
