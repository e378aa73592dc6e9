import type { EventDraft } from '../formats/format-reader.ts';
import type { Span } from '../formats/span.ts';

/** A span as an open trace keeps it. */
export interface TraceSpan {
  /** Halves of its id, as signed integers; both 0 without one. */
  readonly idHigh: number;
  readonly idLow: number;
  /** Halves of its parent's id; both 0 for a root. */
  readonly parentHigh: number;
  readonly parentLow: number;
  readonly name: string;
  readonly service: string;
  /** True for the server's half of a span whose id its client shares (Zipkin). */
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

/** A span that is overwritten by the next one. */
export class ReusedSpan implements TraceSpan {
  idHigh = 0;
  idLow = 0;
  parentHigh = 0;
  parentLow = 0;
  name = '';
  service = '';
  isShared = false;
  endIsSet = true;
  durationMs: number | undefined = undefined;
  fields: EventDraft | undefined = undefined;
  full: Span | undefined = undefined;
  bytes = 0;
}

/** Reasons for closing a trace: `wait` is the normal end, all others are limits. */
export const closingCauses = ['wait', 'max_trace', 'max_open_traces', 'max_bytes'] as const;
export type ClosingCause = (typeof closingCauses)[number];

/** A closed trace, with what an event or a dead letter is made of. The next one overwrites its spans. */
export interface ClosedTrace {
  readonly traceId: string;
  /** Place of its first span. */
  readonly offset: number;
  readonly index: number;
  readonly spans: readonly TraceSpan[];
  /** Spans beyond the limit, which are not kept. */
  readonly spansLeftOut: number;
  /** Spans that came more than once. */
  readonly duplicates: number;
  readonly cause: ClosingCause;
}

/** Key of a span in its trace; '' for one without an id. The halves of a shared span are two. */
export function spanKey(span: TraceSpan): string {
  const id = idOf(span);
  return span.isShared && id !== '' ? `${id}/server` : id;
}

export function hasParent({ parentHigh, parentLow }: TraceSpan): boolean {
  return (parentHigh | parentLow) !== 0;
}

export function isChild(span: TraceSpan, of: TraceSpan): boolean {
  return span.parentLow === of.idLow && span.parentHigh === of.idHigh && hasParent(span);
}

/** True if two spans have one id: the halves of a shared span have. */
export function haveSameId(a: TraceSpan, b: TraceSpan): boolean {
  return a.idLow === b.idLow && a.idHigh === b.idHigh;
}

/** Returns an id as text: 16 hexadecimal digits, or '' for none. */
export function idText(high: number, low: number): string {
  if ((high | low) === 0) return '';
  const digits = (half: number) => (half >>> 0).toString(16).padStart(8, '0');
  return digits(high) + digits(low);
}

/** Text of a span's id. */
export function idOf({ idHigh, idLow }: TraceSpan): string {
  return idText(idHigh, idLow);
}

/** Text of its parent's id. */
export function parentOf({ parentHigh, parentLow }: TraceSpan): string {
  return idText(parentHigh, parentLow);
}
