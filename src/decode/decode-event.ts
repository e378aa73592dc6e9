import { isUtf8 } from 'node:buffer';
import type { z } from 'zod';
import { coldStartIndex, dimensions, milestoneStage } from '../base/dimensions.ts';
import { amountFacets } from '../base/facets.ts';
import { messageOf } from '../base/failure.ts';
import { limits } from '../base/limits.ts';
import { statuses } from '../base/statuses.ts';
import { bracketsOf } from './brackets.ts';
import type { DecodedEvent } from './decoded-event.ts';
import { binaryHint, registryHeader, wrapperOf } from './foreign-form.ts';
import type { Interner } from './interner.ts';
import { longTextsOf } from './long-texts.ts';
import type { RejectReason } from './reject-reasons.ts';
import { contractOf } from './shared-contract.ts';
import type { TimingEvent, TimingEventLimits, timingEvent } from './timing-event.ts';
import { TotalCompletion } from './total-completion.ts';

export interface Rejection {
  readonly reason: RejectReason;
  /** Sentence for the dead letter: the field, the rule and the value that broke it. */
  readonly detail: string;
}

export interface DecodeContext {
  readonly contract: ReturnType<typeof timingEvent>;
  readonly stages: Interner;
  readonly values: Interner;
  readonly totals: TotalCompletion;
}

export function decodeContext(
  options: TimingEventLimits & Pick<DecodeContext, 'stages' | 'values'>,
): DecodeContext {
  const { stages, values } = options;
  return { contract: contractOf(options), stages, values, totals: new TotalCompletion(stages) };
}

/**
 * Decodes the event `bytes[start, end)` by JSON.parse and the contract: the reference for the scanner, and
 * the only source of reject reasons. Of a repeated key the last one counts. Fills `decoded`, or returns a
 * rejection; never throws.
 */
export function decodeEvent(
  bytes: Buffer,
  start: number,
  end: number,
  context: DecodeContext,
  decoded: DecodedEvent,
): Rejection | undefined {
  if (end - start > limits.eventBytes) {
    const detail = `The event must have at most ${limits.eventBytes} bytes: it has ${end - start}`;
    return { reason: 'message_too_large', detail };
  }
  if (bracketsOf(bytes, start, end).depth > limits.nestingDepth) {
    const detail = `The event must nest at most ${limits.nestingDepth} levels: it nests deeper`;
    return { reason: 'too_deep', detail };
  }
  const span = bytes.subarray(start, end);
  const header = registryHeader(bytes, start, end);
  if (header !== undefined) {
    return { reason: 'invalid_json', detail: `The event must be JSON: ${header}` };
  }
  if (!isUtf8(span)) {
    const detail = `The event must be UTF-8: some bytes are not${binaryHint(bytes)}`;
    return { reason: 'invalid_utf8', detail };
  }
  let value: unknown;
  // Most of the cost of a failed parse is its unused stack trace.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    value = JSON.parse(span.toString('utf8'));
  } catch (error) {
    const message = messageOf(error);
    return { reason: 'invalid_json', detail: `The event must be JSON: ${truncated(message)}` };
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const detail = `The event must be a JSON object: ${wrapperOf(value) ?? `it is ${shown(value)}`}`;
    return { reason: 'not_an_object', detail };
  }
  return decodeValue(value, context, decoded);
}

/** Checks an event that is read already by the contract. Fills `decoded`, or returns a rejection. */
export function decodeValue(
  value: object,
  context: DecodeContext,
  decoded: DecodedEvent,
): Rejection | undefined {
  const checked = context.contract.safeParse(value);
  if (!checked.success) return rejectionOf(checked.error, value);
  fill(checked.data, context, decoded, hasMilestonesFirst(value));
  decoded.longTexts = longTextsOf(value, checked.data);
  return undefined;
}

function hasMilestonesFirst(value: object): boolean {
  if (!Object.hasOwn(value, 'milestones_ms')) return false;
  const names = Object.keys(value);
  return names.indexOf('milestones_ms') < names.indexOf('stages_ms');
}

/** Rejection of the first issue, in the order of the contract's fields. */
export function rejectionOf(error: z.ZodError, event: object): Rejection {
  const issue = error.issues[0];
  const path = issue?.path.map(String) ?? [];
  let value: unknown = event;
  for (const key of path) {
    value = Object.hasOwn(Object(value), key) ? (value as Record<string, unknown>)[key] : undefined;
  }
  const name = path.length === 0 ? 'The event' : path.join('.');
  const found = path.length === 0 ? '' : `: it is ${shown(value)}`;
  const wrapper = value === undefined ? wrapperOf(event) : undefined;
  const wrapped = wrapper === undefined ? '' : `; ${wrapper}`;
  return {
    reason: reasonOf(issue, path[0] ?? '', value),
    detail: truncated(`${name} ${issue?.message ?? ''}${found}${wrapped}`),
  };
}

function reasonOf(
  issue: z.core.$ZodIssue | undefined,
  field: string,
  value: unknown,
): RejectReason {
  const absent = value === undefined || value === null;
  if (issue?.code === 'custom') return issue.params?.reason as RejectReason;
  if (field === 'ts') return absent ? 'missing_ts' : 'bad_ts';
  if (field === 'model' && (absent || value === '')) return 'missing_model';
  if (field === 'status') return 'bad_status';
  if (field === 'total_ms')
    return issue?.code === 'too_big' ? 'duration_too_large' : 'bad_duration';
  const isText = (dimensions as readonly string[]).includes(field) && field !== 'cold_start';
  return isText ? 'bad_dimension' : 'bad_field';
}

/** Value for the detail; a missing one has no JSON. */
function shown(value: unknown): string {
  if (value === undefined) return 'missing';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return truncated(JSON.stringify(value.slice(0, 200)), 80);
  return truncated(JSON.stringify(value), 80);
}

function truncated(text: string, maxLength = 300): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`;
}

/** @param hasMilestonesFirst the scanner keeps stages and milestones in the order in which they were read. */
function fill(
  event: TimingEvent,
  context: DecodeContext,
  decoded: DecodedEvent,
  hasMilestonesFirst: boolean,
): void {
  decoded.tsMs = event.ts;
  decoded.status = statuses.indexOf(event.status ?? 'ok');
  for (let i = 0; i < dimensions.length; i++) {
    const value = event[dimensions[i] as (typeof dimensions)[number]];
    decoded.dimensionIds[i] = typeof value === 'string' ? context.values.internText(value) : 0;
  }
  decoded.dimensionIds[coldStartIndex] = event.cold_start === true ? 1 : 0;
  const { text = '', facets = [] } = event.attributes ?? {};
  decoded.attributesId = context.values.internText(text);
  decoded.attributeFacetIds.fill(0);
  for (const [i, value] of facets.entries()) {
    decoded.attributeFacetIds[i] = context.values.internText(value);
  }
  decoded.stageCount = 0;
  // Adding 0 makes -0, which JSON can write, a 0.
  const add = (name: string, ms: number) => {
    decoded.stageIds[decoded.stageCount] = context.stages.internText(name);
    decoded.stageMs[decoded.stageCount++] = ms + 0;
  };
  const addStages = () => {
    for (const [name, ms] of Object.entries(event.stages_ms ?? {})) add(name, ms);
  };
  if (!hasMilestonesFirst) addStages();
  for (const [name, ms] of Object.entries(event.milestones_ms ?? {})) add(milestoneStage(name), ms);
  if (hasMilestonesFirst) addStages();
  decoded.totalMs = numberOf(event.total_ms);
  context.totals.complete(decoded, event.partial === true);
  for (const [i, facet] of amountFacets.entries()) decoded.amounts[i] = numberOf(event[facet]);
  decoded.cacheHit = typeof event.cache_hit === 'boolean' ? Number(event.cache_hit) : -1;
  decoded.weight = event.weight ?? 1;
  decoded.gapCount = 0;
  for (const ms of event.itl_ms ?? []) decoded.addGap(ms + 0);
  const trace = Buffer.from(event.trace_id ?? '');
  decoded.bytes = Buffer.concat([trace, Buffer.from(event.id ?? '')]);
  decoded.traceStart = 0;
  decoded.traceEnd = trace.length;
  decoded.idStart = trace.length;
  decoded.idEnd = decoded.bytes.length;
}

function numberOf(value: number | null | undefined): number {
  return typeof value === 'number' ? value + 0 : Number.NaN;
}
