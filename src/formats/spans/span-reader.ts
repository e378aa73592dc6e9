import type { Origin } from '../format-reader.ts';
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
