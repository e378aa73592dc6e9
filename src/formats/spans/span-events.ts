import type { Status } from '../../base/statuses.ts';
import type { RejectReason } from '../../decode/reject-reasons.ts';
import type { EventDraft, Origin } from '../format-reader.ts';
import { objectOf, parsed } from '../loose-json.ts';
import { type Attributes, type AttributeValue, type Span, toNanosecond } from '../span.ts';
import {
  type CallKind,
  callKinds,
  type DurationSource,
  type Mark,
  type Preset,
  partsOf,
  type Source,
  type SourceParts,
  textSources,
} from './presets/preset.ts';
import { weightOf } from './trace-weight.ts';

/** Receives what becomes of spans: a sink of drafts is one. */
export interface SpanEventSink {
  draft(event: EventDraft, origin: Origin): void;
  reject(reason: RejectReason, detail: string, origin: Origin): void;
  skip(count: number): void;
}

/**
 * Hands a span to the sink as what the first preset that knows it makes of it: an event, a span without a
 * usable end, or nothing by intent. A span that no preset knows is nothing either.
 *
 * @param finish says what a format knows better than the presets.
 */
export function emitSpan(
  span: Span,
  origin: Origin,
  presets: readonly Preset[],
  sink: SpanEventSink,
  finish: (event: EventDraft, span: Span) => EventDraft = (event) => event,
): void {
  const preset = presetOf(span, presets);
  if (preset === undefined) {
    sink.skip(1);
  } else {
    const unended = unendedReject(span);
    if (unended !== undefined) sink.reject(unended.reason, unended.detail, origin);
    else sink.draft(finish(eventOf(span, preset), span), origin);
  }
}

/** Returns the rules of a span that counts; undefined for any other. */
function presetOf(span: Span, presets: readonly Preset[]): Preset | undefined {
  const preset = presets.find(({ knows }) => knows.some((marks) => hasAll(span, marks)));
  return preset?.counts?.some((mark) => has(span, mark)) === false ? undefined : preset;
}

/** A span that counts. */
export interface Call {
  readonly kind: CallKind;
  /** Its kind, where it will be an event by all that its span has; undefined where it will be rejected. */
  eventKind(finish: (event: EventDraft, span: Span) => EventDraft): CallKind | undefined;
}

/** Returns which call a span is; undefined where it does not count. */
export function callOf(span: Span, presets: readonly Preset[]): Call | undefined {
  const preset = presetOf(span, presets);
  if (preset === undefined) return undefined;
  const kinds = preset.kinds ?? {};
  const kind =
    callKinds.find((each) => kinds[each]?.some((mark) => has(span, mark))) ?? 'generation';
  return {
    kind,
    eventKind(finish) {
      if (span.startMs === undefined || unendedReject(span) !== undefined) return undefined;
      return finish(eventOf(span, preset), span).model === undefined ? undefined : kind;
    },
  };
}

/** Returns why a span has no duration; undefined where it may have one. */
export function unendedReject({ endIsSet, durationMs }: Span) {
  if (!endIsSet) {
    const detail = 'The end of the span must be set, and is 0 or no time.';
    return { reason: 'no_end', detail } as const;
  }
  if (durationMs === undefined || durationMs >= 0) return undefined;
  const detail = `The span must not end before it starts, and ends ${-durationMs} ms before.`;
  return { reason: 'ends_before_start', detail } as const;
}

function hasAll(span: Span, marks: readonly Mark[]): boolean {
  return marks.every((mark) => has(span, mark));
}

function has(span: Span, { attribute, values, valueEndsWith, name }: Mark): boolean {
  if (name !== undefined && !name.test(span.name)) return false;
  if (attribute === undefined) return true;
  const value = span.attributes.get(attribute);
  if (value === undefined) return false;
  if (values !== undefined && !values.includes(value)) return false;
  return valueEndsWith?.some((end) => String(value).endsWith(end)) ?? true;
}

function eventOf(span: Span, preset: Preset): EventDraft {
  const sources = sourcesOf(preset);
  const stages: Record<string, number> = {};
  for (const [stage, durations] of Object.entries(preset.stages)) {
    const ms = durationOf(span, durations);
    if (ms !== undefined) stages[stage] = ms;
  }
  return {
    ts: span.startMs,
    model: textIn(span, sources.model),
    version: textIn(span, sources.version),
    service: textIn(span, sources.service),
    request_type: textIn(span, sources.request_type),
    region: textIn(span, sources.region),
    host: textIn(span, sources.host),
    tenant: textIn(span, sources.tenant),
    id: textIn(span, sources.id),
    trace_id: span.traceId === '' ? undefined : span.traceId,
    status: statusOf(span),
    weight: weightOf(span.traceState),
    input_tokens: numberIn(span, preset.inputTokens),
    output_tokens: numberIn(span, preset.outputTokens),
    total_ms: durationOf(span, preset.total ?? []) ?? span.durationMs,
    stages_ms: stages,
  };
}

type TextField = keyof ReturnType<typeof textSources>;
type Sources = Readonly<Record<TextField, readonly SourceParts[]>>;

/** Sources of each preset taken apart, which is done once. */
const knownSources = new WeakMap<Preset, Sources>();

function sourcesOf(preset: Preset): Sources {
  const known = knownSources.get(preset);
  if (known !== undefined) return known;
  const texts = textSources(preset);
  const partsBy = (field: TextField) => texts[field].map(partsOf);
  const sources = {
    service: partsBy('service'),
    model: partsBy('model'),
    version: partsBy('version'),
    request_type: partsBy('request_type'),
    region: partsBy('region'),
    host: partsBy('host'),
    tenant: partsBy('tenant'),
    id: partsBy('id'),
  };
  knownSources.set(preset, sources);
  return sources;
}

/** Returns the first text that is not empty. */
function textIn(span: Span, sources: readonly SourceParts[]): string | undefined {
  for (const source of sources) {
    const value = foundAt(span, source);
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}

function numberIn({ attributes }: Span, names: readonly string[]): number | undefined {
  for (const name of names) {
    const value = attributes.get(name);
    if (typeof value === 'number') return value;
  }
  return undefined;
}

function foundAt(span: Span, { isName, isResource, attribute, member }: SourceParts): unknown {
  if (isName) return span.name;
  if (isResource) return span.resource.get(attribute);
  const value = span.attributes.get(attribute);
  return member === undefined ? value : memberOf(value, member);
}

/** Lists of sources taken apart, which is done once. */
const knownLists = new WeakMap<readonly Source[], readonly SourceParts[]>();

function partsOfAll(sources: readonly Source[]): readonly SourceParts[] {
  let parts = knownLists.get(sources);
  if (parts === undefined) {
    parts = sources.map(partsOf);
    knownLists.set(sources, parts);
  }
  return parts;
}

/** Returns the first of the sources that is a text and not empty. */
export function textOf(span: Span, sources: readonly Source[]): string | undefined {
  return textIn(span, partsOfAll(sources));
}

/** Returns the first of the sources that is a number. */
export function numberOf(span: Span, sources: readonly Source[]): number | undefined {
  for (const source of partsOfAll(sources)) {
    const value = foundAt(span, source);
    if (typeof value === 'number') return value;
  }
  return undefined;
}

function memberOf(json: AttributeValue | undefined, member: string): unknown {
  if (typeof json !== 'string') return undefined;
  const object = objectOf(parsed(json));
  return object !== undefined && Object.hasOwn(object, member) ? object[member] : undefined;
}

function durationOf(span: Span, sources: readonly DurationSource[]): number | undefined {
  for (const source of sources) {
    const ms = 'event' in source ? timeOfEvent(span, source.event) : unitsOf(span, source);
    if (ms !== undefined) return ms;
  }
  return undefined;
}

function timeOfEvent({ events }: Span, name: string): number | undefined {
  let first: number | undefined;
  for (const event of events) {
    if (event.name !== name) continue;
    if (first === undefined || event.sinceStartMs < first) first = event.sinceStartMs;
  }
  return first;
}

interface InUnits {
  readonly attribute: string;
  readonly unitMs: number;
}

function unitsOf({ attributes }: Span, { attribute, unitMs }: InUnits): number | undefined {
  const value = attributes.get(attribute);
  return typeof value === 'number' ? toNanosecond(value * unitMs) : undefined;
}

/** Status of a span that failed. */
export const errorCode = 2;

/** Attribute with what the error is called. */
export const errorType = 'error.type';

/** Names of errors that are a time limit or the caller's own doing, in any language and library. */
const timeout = /time[-_ ]?d?[-_ ]?out|deadline[-_ ]?exceeded|^(408|504)$/i;
const cancelled = /cancel|abort/i;

/** Returns how a request ended, by the span's status and its error or exception. */
export function statusOf(span: Span): Status {
  const error = textFrom(span.attributes, errorType);
  if (span.statusCode !== errorCode && error === undefined) return 'ok';
  return statusOfCause(error ?? exceptionOf(span) ?? '');
}

/** Returns the status of a failed span by what its error is called. */
export function statusOfCause(cause: string): Status {
  if (timeout.test(cause)) return 'timeout';
  return cancelled.test(cause) ? 'cancelled' : 'error';
}

function exceptionOf({ events }: Span): string | undefined {
  const exception = events.findLast(({ name }) => name === 'exception');
  return exception && textFrom(exception.attributes, 'exception.type');
}

/** Returns an attribute as text; undefined without one, and for an empty one. */
export function textFrom(attributes: Attributes, name: string): string | undefined {
  const value = attributes.get(name);
  return value === undefined || value === '' ? undefined : String(value);
}
