/** Limits of open traces, per partition. All of them decide when a trace closes. */
export interface AssembleSettings {
  /** A trace without a span for this long is complete. */
  readonly waitMs: number;
  /** A trace is open for this long at most. */
  readonly maxTraceMs: number;
  /** Closed traces are remembered for this long after their last span, to recognise late ones. >= waitMs. */
  readonly lateMemoryMs: number;
  readonly maxOpenTraces: number;
  readonly maxSpansPerTrace: number;
  /** Of the spans of open traces, estimated. */
  readonly maxBytes: number;
}

/** Traces that are open or remembered, in multiples of `maxOpenTraces`. */
const KNOWN_PER_OPEN = 8;

export function maxKnown({ maxOpenTraces }: AssembleSettings): number {
  return maxOpenTraces * KNOWN_PER_OPEN;
}

/**
 * Length of log that must be read back to rebuild the state at its end, whatever came before: see
 * `TraceAssembler`.
 */
export function horizonMs({ maxTraceMs, lateMemoryMs }: AssembleSettings): number {
  return maxTraceMs + lateMemoryMs;
}

/** Ticks within a horizon at most, which the metadata of a commit must hold. */
const TICKS_PER_HORIZON = 150;

/** By how much a tick moves the clock, which has stood still for as long. */
export function tickMs(settings: AssembleSettings): number {
  return Math.max(settings.waitMs, Math.ceil(horizonMs(settings) / TICKS_PER_HORIZON));
}

export function areSame(a: AssembleSettings, b: AssembleSettings): boolean {
  return (
    a.waitMs === b.waitMs &&
    a.maxTraceMs === b.maxTraceMs &&
    a.lateMemoryMs === b.lateMemoryMs &&
    a.maxOpenTraces === b.maxOpenTraces &&
    a.maxSpansPerTrace === b.maxSpansPerTrace &&
    a.maxBytes === b.maxBytes
  );
}
