/** Scalar value of an attribute; lists and maps are left out. */
export type AttributeValue = string | number | boolean;
export type Attributes = ReadonlyMap<string, AttributeValue>;

/** Something that happened during a span. */
export interface SpanEvent {
  readonly name: string;
  /** Milliseconds since the span's start. */
  readonly afterMs: number;
}

/** A span, whatever it was encoded as. */
export interface Span {
  /** Lower-case hex; '' where it is absent. */
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  /** Start, whole milliseconds since the Unix epoch. */
  readonly startMs: number;
  /** Exact to the nanosecond. Negative where the span ends before it starts; undefined where it has no end. */
  readonly durationMs: number | undefined;
  /** Whether its status is an error. */
  readonly isError: boolean;
  readonly attributes: Attributes;
  /** Attributes of what emitted it: service.name, host.name. */
  readonly resource: Attributes;
  readonly events: readonly SpanEvent[];
}
