import { z } from 'zod';
import { hourMs } from '../../../base/time.ts';
import { parseDuration } from '../../../config/duration.ts';
import { epochMsOf } from '../../../decode/epoch-ms-of.ts';
import { attributesPattern } from '../../../series/attributes.ts';
import { type Filters, starts } from '../../../views/question.ts';
import { mostSteps, type Retention, type TimeRange, timeRange } from '../../../views/time-range.ts';
import { Problem } from '../../http/problem.ts';

const name = z.string().max(4096);
const timeForm = 'RFC 3339, milliseconds since 1970, `now`, or a duration ago such as `-6h`';

export const rangeParameters = {
  from: z
    .string()
    .max(64)
    .optional()
    .describe(
      `Start of the range: ${timeForm}. Default: six hours ago, or the first window that is stored where that is younger.`,
    ),
  to: z.string().max(64).default('now').describe(`End of the range, exclusive: ${timeForm}.`),
};

/** The requests of an answer; an empty value matches any. */
export const requestParameters = {
  version: name.default('').describe('Only requests to this version.'),
  request_type: name.default('').describe('Only requests of this type.'),
  region: name.default('').describe('Only requests in this region.'),
  attributes: name
    .refine((text) => attributesPattern.test(text), {
      error: 'must be pairs such as adapter=lora-7,gpu=h100, with %2C for a comma',
    })
    .default('')
    .transform((text) => (text === '' ? [] : text.split(',')))
    .describe(
      'Only requests with these own dimensions: `adapter=lora-7,gpu=h100`; `adapter=` are those without.',
    ),
  start: z
    .enum(starts)
    .default('warm')
    .describe('Requests to a warm model, its cold starts, or all of them.'),
};

export const modelParameter = { model: name.min(1).describe('Name of a model.') };
export const anyModelParameter = {
  model: name.default('').describe('Only this model; all of them without.'),
};
/** The models of an answer; the rest is left out of `rows` and counted. */
export const modelsParameters = {
  model_contains: name
    .default('')
    .describe('Only models with this in their name, in upper or lower case.'),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(2_000)
    .default(2_000)
    .describe('Most models of an answer: those with the most requests.'),
};

export const stepParameter = {
  step_seconds: z.coerce
    .number()
    .int()
    .min(10)
    .max(366 * 86_400)
    .multipleOf(10)
    .optional()
    .describe('Length of a step. The server chooses one that gives at most 300 steps.'),
};

export const limitParameter = {
  limit: z.coerce.number().int().min(1).max(500).default(50).describe('Most rows of an answer.'),
};

/** A list of quantiles such as `0.5,0.99`. */
export const quantilesParameter = {
  q: z
    .string()
    .max(256)
    .default('0.5,0.9,0.95,0.99,0.999')
    .transform((text, context) => {
      const levels = text
        .split(',')
        .map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
      const isList = levels.length <= mostQuantiles && levels.every((q) => q > 0 && q < 1);
      if (isList) return levels;
      context.addIssue({
        code: 'custom',
        message: `must have 1 to ${mostQuantiles} quantiles above 0 and below 1, such as 0.5,0.99`,
      });
      return z.NEVER;
    })
    .describe('Quantiles above 0 and below 1, with commas between them.'),
};
const mostQuantiles = 20;

type RequestValues = z.output<z.ZodObject<typeof requestParameters>>;

/** @param start where another one than the given default is meant. */
export function filtersOf(
  values: RequestValues & { readonly model: string },
  start: Filters['start'] = values.start,
): Filters {
  const { model, version, region, request_type: requestType, attributes: attributePairs } = values;
  return { model, version, region, requestType, attributePairs, start };
}

/** The base of times that are not absolute. */
export interface Moment {
  readonly nowMs: number;
  /** Start of the first window that is stored; undefined where none is. */
  readonly firstMs: number | undefined;
}

export interface RangeContext extends Moment {
  readonly retention: Retention;
}

type RangeValues = {
  /** Undefined for the default. */
  readonly from?: string | undefined;
  readonly to: string;
  step_seconds?: number | undefined;
};

/** Length of a range that names no start. */
const defaultRangeMs = 6 * hourMs;

/**
 * Whole steps of a given range.
 *
 * @throws Problem 400
 */
export function rangeOf(
  values: RangeValues,
  context: RangeContext,
  wishedSteps: number,
): TimeRange {
  const { step_seconds: stepSeconds } = values;
  const { nowMs } = context;
  const { fromMs, toMs } = momentsOf(values, context);
  const seconds = (toMs - fromMs) / 1000;
  if (stepSeconds !== undefined && seconds / stepSeconds > mostSteps) {
    const least = Math.ceil(seconds / mostSteps / 10) * 10;
    const steps = Math.ceil(seconds / stepSeconds).toLocaleString('en');
    const detail = `step_seconds must give at most ${mostSteps} steps: ${stepSeconds} gives ${steps}. It must be at least ${least} for this range.`;
    throw new Problem(400, detail);
  }
  // A default start that is the first window stays where it is.
  const isFixedStart = values.from === undefined && fromMs !== nowMs - defaultRangeMs;
  const isRelative = isMoving(values.from) && isMoving(values.to) && !isFixedStart;
  return timeRange({ ...context, fromMs, toMs, wishedSteps, stepSeconds, isRelative });
}

/**
 * Start and end of a given range.
 *
 * @param side begins the names of the two parameters.
 * @throws Problem 400
 */
export function momentsOf({ from, to }: RangeValues, moment: Moment, side = '') {
  const { nowMs } = moment;
  const toMs = timeOf(`${side}to`, to, nowMs);
  const fromMs =
    from === undefined ? defaultStart(moment, toMs) : timeOf(`${side}from`, from, nowMs);
  if (fromMs < toMs) return { fromMs, toMs };
  const detail = `${side}to must lie after ${side}from; it is ${shown(to)}, and ${side}from is ${shown(from ?? '-6h')}.`;
  throw new Problem(400, detail);
}

/**
 * Six hours ago; the first window where that is younger, so that the range is not empty for the most part.
 */
function defaultStart({ nowMs, firstMs }: Moment, toMs: number): number {
  const startMs = nowMs - defaultRangeMs;
  return firstMs !== undefined && firstMs > startMs && firstMs < toMs ? firstMs : startMs;
}

/** True where a range stays the same at any time: its bounds are absolute. */
export function isAbsolute({ from, to }: RangeValues): boolean {
  return !isMoving(from) && !isMoving(to);
}

/** Ends of a range that move with the clock, as they were given. */
export function movingEnds({ from, to }: RangeValues) {
  return {
    ...(isMoving(from) && { fromSeconds: from ?? '' }),
    ...(isMoving(to) && { toSeconds: to }),
  };
}

function isMoving(text: string | undefined): boolean {
  return text === undefined || text === 'now' || text.startsWith('-');
}

/** Times beyond fit no column of ClickHouse. */
const latestMs = Date.UTC(2100, 0, 1);

function timeOf(parameter: string, text: string, nowMs: number): number {
  const ms = momentOf(text, nowMs);
  if (Number.isNaN(ms)) {
    throw new Problem(400, `${parameter} must be a time: ${timeForm}; it is ${shown(text)}.`);
  }
  if (ms < 0 || ms > latestMs) {
    const detail = `${parameter} must lie between 1970 and 2100; it is ${shown(text)}.`;
    throw new Problem(400, detail);
  }
  return ms;
}

function momentOf(text: string, nowMs: number): number {
  if (text === 'now') return nowMs;
  if (text.startsWith('-')) {
    const agoMs = parseDuration(text.slice(1));
    // An age beyond 1970 is as good as all of the past.
    return agoMs === undefined ? Number.NaN : Math.max(0, nowMs - agoMs);
  }
  if (/^\d{1,15}$/.test(text)) return Number(text);
  // A plus that is not encoded arrives as a space.
  return epochMsOf(text.replace(/ (\d\d:\d\d)$/, '+$1'));
}

const shown = (text: string) => JSON.stringify(text);
