import type { Origin } from '../format-reader.ts';
import { type JsonObject, jsonBytes, notJson, objectOf, parsed } from '../loose-json.ts';
import type { Span } from './span.ts';

/** Receives the spans of a message, in order. */
export interface SpanSink {
  span(span: Span, origin: Origin): void;
  /** Receives what stands where a span should. @param detail one sentence. */
  malformed(detail: string, origin: Origin): void;
}

/**
 * Reads the spans of one message. Content never makes it throw.
 *
 * @returns what is wrong with the message as a whole, if it cannot be read.
 */
export type SpanReader = (text: string, sink: SpanSink) => string | undefined;

/**
 * Reads spans of a JSON list, of a list of lists, or one by itself.
 *
 * @returns what is wrong with the text as a whole, if it cannot be read.
 */
export function readSpanList(
  text: string,
  sink: SpanSink,
  spanOf: (raw: JsonObject) => Span,
): string | undefined {
  const value = parsed(text);
  if (value === undefined) return notJson;
  if (typeof value !== 'object' || value === null) return 'Spans must be a JSON list, and are not.';
  for (const entry of Array.isArray(value) ? value.flat() : [value]) {
    const origin = { bytes: () => jsonBytes((span) => [span], entry) };
    const span = objectOf(entry);
    if (span === undefined) sink.malformed('A span must be a JSON object, and is not.', origin);
    else sink.span(spanOf(span), origin);
  }
  return undefined;
}
