import type { Status } from '../../base/statuses.ts';
import type { DraftSink, EventDraft, Origin } from '../format-reader.ts';
import { objectOf, parsed } from '../loose-json.ts';
import type { DurationSource, Mark, Preset, Source } from './presets/preset.ts';
import { type Attributes, type AttributeValue, type Span, toNanosecond } from './span.ts';

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
  sink: DraftSink,
  finish: (event: EventDraft, span: Span) => EventDraft,
): void {
  const preset = presets.find(({ knows }) => knows.some((marks) => hasAll(span, marks)));
  if (preset === undefined || preset.counts?.some((mark) => has(span, mark)) === false) {
    sink.skip(1);
  } else if (!span.endIsSet) {
    sink.reject('no_end', 'The end of the span must be set, and is 0 or no time.', origin);
  } else if (span.durationMs !== undefined && span.durationMs < 0) {
    const detail = `The span must not end before it starts, and ends ${-span.durationMs} ms before.`;
    sink.reject('ends_before_start', detail, origin);
  } else {
    sink.draft(finish(eventOf(span, preset), span), origin);
  }
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
  const stages = Object.entries(preset.stages).flatMap(([stage, sources]) => {
    const ms = durationOf(span, sources);
    return ms === undefined ? [] : [[stage, ms] as const];
  });
  return {
    ts: span.startMs,
    model: textOf(span, preset.model),
    service: textOf(span, ['resource:service.name']),
    request_type: textOf(span, preset.requestType),
    id: textOf(span, preset.id),
    trace_id: span.traceId === '' ? undefined : span.traceId,
    status: statusOf(span),
    input_tokens: numberOf(span, preset.inputTokens),
    output_tokens: numberOf(span, preset.outputTokens),
    total_ms: durationOf(span, preset.total ?? []) ?? span.durationMs,
    stages_ms: Object.fromEntries(stages),
  };
}

/** Returns the first text that is not empty. */
export function textOf(span: Span, sources: readonly Source[] = []): string | undefined {
  for (const source of sources) {
    const value = foundAt(span, source);
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}

export function numberOf(span: Span, sources: readonly Source[]): number | undefined {
  for (const source of sources) {
    const value = foundAt(span, source);
    if (typeof value === 'number') return value;
  }
  return undefined;
}

const resourcePrefix = 'resource:';
const nameSource = 'span:name';

function foundAt({ attributes, resource, name }: Span, source: Source): unknown {
  if (source === nameSource) return name;
  if (source.startsWith(resourcePrefix)) return resource.get(source.slice(resourcePrefix.length));
  const hash = source.indexOf('#');
  if (hash < 0) return attributes.get(source);
  return memberOf(attributes.get(source.slice(0, hash)), source.slice(hash + 1));
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

const errorCode = 2;

/** What an error is called that is a time limit or the caller's own doing, in any language and library. */
const timeout = /time[-_ ]?d?[-_ ]?out|deadline[-_ ]?exceeded|^(408|504)$/i;
const cancelled = /cancel|abort/i;

/** Returns how a request ended, by the span's status and its error or exception. */
export function statusOf(span: Span): Status {
  const error = textFrom(span.attributes, 'error.type');
  if (span.statusCode !== errorCode && error === undefined) return 'ok';
  const cause = error ?? exceptionOf(span) ?? '';
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
