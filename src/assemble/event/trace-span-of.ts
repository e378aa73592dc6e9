import type { Span } from '../../formats/spans/span.ts';
import { textFrom } from '../../formats/spans/span-events.ts';
import type { TraceSpan } from '../trace.ts';
import type { TraceRules } from './trace-rules.ts';

/** Memory of a span without its names and attributes, and of an attribute, estimated. */
export const SPAN_BYTES = 200;
const ATTRIBUTE_BYTES = 60;
const EVENT_BYTES = 100;

/** Returns what an open trace keeps of a span: all of it only where the trace's event may need it. */
export function traceSpanOf(span: Span, rules: TraceRules): TraceSpan {
  const { spanId, parentSpanId, name, kind, endIsSet, durationMs, isShared = false } = span;
  const service = textFrom(span.resource, 'service.name') ?? '';
  const isNeeded =
    parentSpanId === '' || rules.stagesFrom === 'triton' || rules.rootNames.has(name);
  return {
    ...{ spanId, parentSpanId, name, service, kind, isShared, endIsSet, durationMs },
    full: isNeeded ? span : undefined,
    bytes: SPAN_BYTES + 2 * (name.length + service.length) + (isNeeded ? bytesOf(span) : 0),
  };
}

function bytesOf({ attributes, events, traceState }: Span): number {
  let bytes = SPAN_BYTES + 2 * traceState.length + EVENT_BYTES * events.length;
  for (const [key, value] of attributes) {
    bytes += ATTRIBUTE_BYTES + 2 * key.length + (typeof value === 'string' ? 2 * value.length : 0);
  }
  return bytes;
}
