import type { Origin } from '../format-reader.ts';
import type { Attributes, AttributeValue, Span, SpanEvent } from './span.ts';

type Fields = Readonly<Record<string, unknown>>;

const NS_PER_MS = 1_000_000n;
const STATUS_ERROR = 2;

/**
 * Yields the spans of an ExportTraceServiceRequest in OTLP's JSON (opentelemetry-proto 1.x): ids are hex in
 * either case, 64-bit numbers are texts or numbers, unknown fields are ignored. What has another type counts
 * as absent, so no content makes it throw.
 */
export function* readOtlpJson(
  request: Fields,
): Generator<{ readonly span: Span; readonly origin: Origin }, void> {
  for (const resourceSpans of listOf(request.resourceSpans)) {
    const resource = attributesOf(fieldsOf(resourceSpans.resource).attributes);
    for (const { spans, scope } of listOf(resourceSpans.scopeSpans)) {
      for (const span of listOf(spans)) {
        const bytes = () => {
          const scopeSpans = [{ scope, spans: [span] }];
          const alone = { resourceSpans: [{ resource: resourceSpans.resource, scopeSpans }] };
          return Buffer.from(JSON.stringify(alone));
        };
        yield { span: spanOf(span, resource), origin: { bytes } };
      }
    }
  }
}

function spanOf(span: Fields, resource: Attributes): Span {
  const startNs = nanoseconds(span.startTimeUnixNano);
  const endNs = nanoseconds(span.endTimeUnixNano);
  return {
    traceId: idOf(span.traceId),
    spanId: idOf(span.spanId),
    parentSpanId: idOf(span.parentSpanId),
    name: typeof span.name === 'string' ? span.name : '',
    startMs: Number(startNs / NS_PER_MS),
    durationMs: endNs === 0n ? undefined : milliseconds(endNs - startNs),
    isError: fieldsOf(span.status).code === STATUS_ERROR,
    attributes: attributesOf(span.attributes),
    resource,
    events: listOf(span.events).map(
      ({ name, timeUnixNano }): SpanEvent => ({
        name: typeof name === 'string' ? name : '',
        afterMs: milliseconds(nanoseconds(timeUnixNano) - startNs),
      }),
    ),
  };
}

/** Whole and fraction apart, so that nothing is lost below 2^53 ms. */
function milliseconds(ns: bigint): number {
  return Number(ns / NS_PER_MS) + Number(ns % NS_PER_MS) / 1e6;
}

function nanoseconds(value: unknown): bigint {
  if (typeof value === 'string' && /^\d{1,20}$/.test(value)) return BigInt(value);
  return typeof value === 'number' && Number.isSafeInteger(Math.floor(value / 1e6)) && value >= 0
    ? BigInt(Math.floor(value))
    : 0n;
}

/** An id in lower case; '' for what is none, and for one of zeros, which OTLP calls invalid. */
function idOf(value: unknown): string {
  if (typeof value !== 'string' || !/^[0-9a-fA-F]{1,32}$/.test(value)) return '';
  return /^0+$/.test(value) ? '' : value.toLowerCase();
}

function attributesOf(value: unknown): Attributes {
  const attributes = new Map<string, AttributeValue>();
  for (const { key, value: any } of listOf(value)) {
    const scalar = scalarOf(fieldsOf(any));
    if (typeof key === 'string' && scalar !== undefined) attributes.set(key, scalar);
  }
  return attributes;
}

function scalarOf({ stringValue, boolValue, intValue, doubleValue }: Fields) {
  if (typeof stringValue === 'string') return stringValue;
  if (typeof boolValue === 'boolean') return boolValue;
  if (typeof doubleValue === 'number') return doubleValue;
  if (typeof intValue === 'number') return intValue;
  return typeof intValue === 'string' && /^-?\d+$/.test(intValue) ? Number(intValue) : undefined;
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}
