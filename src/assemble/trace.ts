import type { EventDraft } from '../formats/format-reader.ts';
import type { Span } from '../formats/spans/span.ts';

/** A span as an open trace keeps it. */
export interface TraceSpan {
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly service: string;
  /** As OTLP numbers it. */
  readonly kind: number;
  /** Whether it is the server's half of a span whose id its client shares (Zipkin). */
  readonly isShared: boolean;
  readonly endIsSet: boolean;
  readonly durationMs: number | undefined;
  /** Fields of the trace's event, if the span may be its root. */
  readonly fields: EventDraft | undefined;
  /** All of the span, where the trace's event needs more than fields. */
  readonly full: Span | undefined;
  /** Memory, estimated: the same for the same span. */
  readonly bytes: number;
}

/** Why a trace was closed: `wait` is the normal end, all others are limits. */
export type ClosingCause = 'wait' | 'max_trace' | 'max_open_traces' | 'max_bytes';

/** A trace that is closed, with what an event or a dead letter is made of. */
export interface ClosedTrace {
  readonly traceId: string;
  /** Where its first span was. */
  readonly offset: number;
  readonly index: number;
  readonly spans: readonly TraceSpan[];
  /** Spans beyond the limit, which are not kept. */
  readonly spansLeftOut: number;
  /** Spans that came more than once. */
  readonly duplicates: number;
  readonly cause: ClosingCause;
}

/** What identifies a span in its trace; '' for one without an id. The halves of a shared span are two. */
export function spanKey({ spanId, isShared }: TraceSpan): string {
  return isShared && spanId !== '' ? `${spanId}/server` : spanId;
}
