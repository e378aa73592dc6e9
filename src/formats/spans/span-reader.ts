import { limits } from '../../base/limits.ts';
import type { RejectReason } from '../../decode/reject-reasons.ts';
import type { Origin } from '../format-reader.ts';
import { type JsonObject, jsonBytes, listOf, notJson, objectOf, parsed } from '../loose-json.ts';
import type { Span } from '../span.ts';

/** The reason why a value in place of a span is none. */
export interface SpanFault {
  readonly detail: string;
  /** Of a span beyond a limit; undefined for what the format cannot read. */
  readonly reason?: RejectReason;
}

/** Of a span with more attributes and events than `limits.spanParts`. Its rest is not read. */
export const tooManyParts: SpanFault = {
  reason: 'bad_field',
  detail: `A span must have at most ${limits.spanParts} attributes and events: it has more`,
};

/** Of each span of a resource with more attributes than that. */
export const tooManyOfResource: SpanFault = {
  reason: 'bad_field',
  detail: `A resource must have at most ${limits.spanParts} attributes: it has more`,
};

/** Receives the spans of a message, in order. */
export interface SpanSink {
  span(span: Span, origin: Origin): void;
  /**
   * Receives what stands where a span should.
   *
   * @param detail one sentence.
   * @param reason of a span beyond a limit. @default {that of what the format cannot read}
   */
  malformed(detail: string, origin: Origin, reason?: RejectReason): void;
}

/** Hands on a span, or why it is none. */
export function putSpan(span: Span | SpanFault, origin: Origin, sink: SpanSink): void {
  if ('detail' in span) sink.malformed(span.detail, origin, span.reason);
  else sink.span(span, origin);
}

/**
 * Reads the spans of one message. Content never makes it throw.
 *
 * @returns what is wrong with the message as a whole, if it cannot be read.
 */
export type SpanReader = (text: string, sink: SpanSink) => string | undefined;

/**
 * Reads spans of a JSON list, of a list of lists, or a single one.
 *
 * @returns what is wrong with the text as a whole, if it cannot be read.
 */
export function readSpanList(
  text: string,
  sink: SpanSink,
  spanOf: (raw: JsonObject) => Span | SpanFault,
): string | undefined {
  const value = parsed(text);
  if (value === undefined) return notJson;
  if (typeof value !== 'object' || value === null) return 'Spans must be a JSON list, and are not.';
  for (const entry of Array.isArray(value) ? value.flat() : [value]) {
    const origin = { bytes: () => jsonBytes((span) => [span], entry) };
    const span = objectOf(entry);
    if (span === undefined) sink.malformed('A span must be a JSON object, and is not.', origin);
    else putSpan(spanOf(span), origin, sink);
  }
  return undefined;
}

/** Returns why the rest of a message is not read after these spans, of which some were rejected. */
export function excessOfMessage(spans: number, rejected: number): string | undefined {
  if (spans >= limits.eventsPerMessage) {
    return `A message must hold at most ${limits.eventsPerMessage} spans: it holds more`;
  }
  if (rejected < limits.rejectedPerMessage) return undefined;
  return `At most ${limits.rejectedPerMessage} spans of a message must be invalid: more may be`;
}

/**
 * Returns why a span of JSON is not read: it has more parts than it may.
 *
 * @param ofEvent name of an event's attributes.
 */
export function excessOf(
  attributes: unknown,
  events: unknown,
  ofEvent: string,
): SpanFault | undefined {
  const list = listOf(events);
  let parts = sizeOf(attributes) + list.length;
  for (let i = 0; i < list.length && parts <= limits.spanParts; i++) {
    parts += sizeOf(objectOf(list[i])?.[ofEvent]);
  }
  return parts > limits.spanParts ? tooManyParts : undefined;
}

/** The same of its resource. */
export function excessOfResource(attributes: unknown): SpanFault | undefined {
  return sizeOf(attributes) > limits.spanParts ? tooManyOfResource : undefined;
}

/** Entries of a list, or keys of an object. */
function sizeOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return Object.keys(objectOf(value) ?? {}).length;
}
