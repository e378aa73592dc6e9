import {
  type JsonObject,
  jsonBytes,
  listOf,
  notJson,
  objectOf,
  parsed,
  textOf,
} from '../loose-json.ts';
import {
  type Attributes,
  type AttributeValue,
  hexId,
  type Moment,
  momentOfNs,
  msBetween,
  parentIsRemoteBy,
  type Span,
  type SpanEvent,
  spanKinds,
} from '../span.ts';
import { excessOf, excessOfResource, putSpan, type SpanSink } from './span-reader.ts';

/**
 * A time written as a number of JSON, which a double would round to 256 ns. Such a key cannot be inside a
 * string, where its quotes would be escaped.
 */
const timeAsNumber = /("(?:startT|endT|t)imeUnixNano"\s*:\s*)(\d{16,20})(?=[\s,}])/g;

/** Reads an ExportTraceServiceRequest as JSON, the way the collector and the SDKs write it. */
export function readOtlpJson(text: string, sink: SpanSink): string | undefined {
  const value = parsed(text.replace(timeAsNumber, '$1"$2"'));
  if (value === undefined) return notJson;
  const request = objectOf(value);
  if (request === undefined) return 'A request must be a JSON object, and is not.';
  const names = Object.keys(request);
  if (names.length > 0 && !Object.hasOwn(request, 'resourceSpans')) return withoutSpans(names);
  const resourceSpans = request.resourceSpans ?? [];
  if (!Array.isArray(resourceSpans)) return 'resourceSpans must be a list, and is not.';
  for (const entry of resourceSpans) {
    const resource = objectOf(entry);
    if (resource !== undefined) readResource(resource, sink);
    else
      sink.malformed(
        'An entry of resourceSpans must be a JSON object, and is not.',
        originOf(entry),
      );
  }
  return undefined;
}

/** Names of an object that are listed, and their characters. */
const LISTED = 5;
const LISTED_CHARACTERS = 100;

/** Any object would pass for a request of nothing: so one must say that it is one. */
function withoutSpans(names: readonly string[]): string {
  const listed = names.slice(0, LISTED).join(', ').slice(0, LISTED_CHARACTERS);
  return `A request must have resourceSpans, and has ${listed}.`;
}

/** Returns the origin of part of `resourceSpans`. */
function originOf(part: unknown, wrap = (inner: unknown) => inner) {
  return { bytes: () => jsonBytes((inner) => ({ resourceSpans: [wrap(inner)] }), part) };
}

function readResource(entry: JsonObject, sink: SpanSink): void {
  const resource = objectOf(entry.resource) ?? {};
  const excess = excessOfResource(resource.attributes);
  const attributes = excess === undefined ? attributesOf(resource.attributes) : new Map();
  // Until 2022 the field was called `instrumentationLibrarySpans`.
  const groups = entry.scopeSpans ?? entry.instrumentationLibrarySpans ?? [];
  if (!Array.isArray(groups)) {
    sink.malformed('scopeSpans must be a list, and is not.', originOf(entry));
  }
  for (const group of listOf(groups)) {
    const { scope, spans = [] } = objectOf(group) ?? { spans: group };
    const inResource = (scopeSpans: unknown) => ({ resource, scopeSpans: [scopeSpans] });
    if (!Array.isArray(spans)) {
      sink.malformed('spans must be a list, and is not.', originOf(group, inResource));
    }
    for (const raw of listOf(spans)) {
      const origin = originOf(raw, (span) => inResource({ scope, spans: [span] }));
      const span = objectOf(raw);
      if (span === undefined) sink.malformed('A span must be a JSON object, and is not.', origin);
      else {
        const fault = excess ?? excessOf(span.attributes, span.events, 'attributes');
        putSpan(fault ?? spanOf(span, attributes), origin, sink);
      }
    }
  }
}

function spanOf(raw: JsonObject, resource: Attributes): Span {
  const start = momentOfNs(raw.startTimeUnixNano);
  const end = momentOfNs(raw.endTimeUnixNano);
  return {
    traceId: idOf(raw.traceId),
    spanId: idOf(raw.spanId),
    parentSpanId: idOf(raw.parentSpanId),
    name: textOf(raw.name),
    kind: enumOf(raw.kind, kinds),
    startMs: start?.ms,
    startNs: start?.ns ?? 0,
    durationMs: start && end && msBetween(start, end),
    endIsSet: end !== undefined,
    statusCode: enumOf(objectOf(raw.status)?.code, statusCodes),
    attributes: attributesOf(raw.attributes),
    resource,
    events: start === undefined ? [] : eventsOf(raw.events, start),
    traceState: textOf(raw.traceState),
    parentIsRemote: parentIsRemoteBy(numberOf(raw.flags) ?? 0),
  };
}

/** An id in base64, as protobuf's libraries write JSON: 16 bytes or 8, which no hex is as long as. */
const base64Id = /^(?:[A-Za-z0-9+/]{22}==|[A-Za-z0-9+/]{11}=)$/;

function idOf(id: unknown): string {
  const isBase64 = typeof id === 'string' && base64Id.test(id);
  return hexId(isBase64 ? Buffer.from(id, 'base64').toString('hex') : id);
}

function eventsOf(events: unknown, start: Moment): readonly SpanEvent[] {
  return listOf(events).flatMap((entry) => {
    const event = objectOf(entry) ?? {};
    const time = momentOfNs(event.timeUnixNano);
    if (time === undefined) return [];
    const attributes = attributesOf(event.attributes);
    return [{ name: textOf(event.name), sinceStartMs: msBetween(start, time), attributes }];
  });
}

const kinds = spanKinds.map((kind) => `SPAN_KIND_${kind.toUpperCase()}`);
const statusCodes = ['STATUS_CODE_UNSET', 'STATUS_CODE_OK', 'STATUS_CODE_ERROR'];

/** Returns the number of an enum, which OTLP wants as such. Some write its name. */
function enumOf(value: unknown, names: readonly string[]): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? Math.max(0, names.indexOf(value)) : 0;
}

function attributesOf(list: unknown): Attributes {
  const attributes = new Map<string, AttributeValue>();
  for (const entry of listOf(list)) {
    const { key, value } = objectOf(entry) ?? {};
    const read = anyValueOf(objectOf(value) ?? {});
    if (typeof key === 'string' && read !== undefined) attributes.set(key, read);
  }
  return attributes;
}

function anyValueOf(value: JsonObject): AttributeValue | undefined {
  const { stringValue, boolValue, intValue, doubleValue } = value;
  if (typeof stringValue === 'string') return stringValue;
  if (typeof boolValue === 'boolean') return boolValue;
  return numberOf(intValue) ?? numberOf(doubleValue);
}

function numberOf(value: unknown): number | undefined {
  const text = typeof value === 'string' && /^[-+.\deE]{1,32}$/.test(value);
  const number = text ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}
