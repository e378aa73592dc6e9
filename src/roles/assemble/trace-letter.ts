import { type ClosedTrace, idText } from '../../assemble/trace.ts';
import { limits } from '../../base/limits.ts';

/** Spans that a letter lists. */
const LISTED_SPANS = 100;

/** Returns what a dead letter holds of a trace: its id and its spans, as JSON. */
export function letterOfTrace({ traceId, spans, spansLeftOut }: ClosedTrace): Buffer {
  const listed = spans.slice(0, LISTED_SPANS).map((span) => ({
    name: span.name.slice(0, 200),
    service: span.service.slice(0, 200),
    span_id: idText(span.idHigh, span.idLow),
    parent_span_id: idText(span.parentHigh, span.parentLow),
    duration_ms: span.durationMs,
  }));
  const letter = { trace_id: traceId, span_count: spans.length + spansLeftOut, spans: listed };
  return Buffer.from(JSON.stringify(letter).slice(0, limits.deadLetterBytes));
}

/** Returns the trace id of such a letter, whose end may be cut off; undefined where it is of something else. */
export function traceIdOf(letter: Buffer | null): string | undefined {
  return /^\{"trace_id":"([^"]*)"/.exec(letter?.toString() ?? '')?.[1];
}
