import { type JsonObject, listOf, objectOf, textOf } from '../loose-json.ts';
import {
  type Attributes,
  hexId,
  type Moment,
  msBetween,
  type Span,
  type SpanEvent,
} from '../span.ts';
import { plainAttributes } from './plain-attributes.ts';
import { excessOf, readSpanList, type SpanSink } from './span-reader.ts';

/**
 * Reads spans as the SDK for JavaScript has them in memory (`ReadableSpan`), written as JSON: a list, or a
 * single one. Times are pairs of seconds and nanoseconds.
 */
export function readOtelJsJson(text: string, sink: SpanSink): string | undefined {
  return readSpanList(
    text,
    sink,
    (raw) => excessOf(raw.attributes, raw.events, 'attributes') ?? spanOf(raw),
  );
}

function attributesOf(value: unknown): Attributes {
  return plainAttributes(Object.entries(objectOf(value) ?? {}));
}

function spanOf(raw: JsonObject): Span {
  const context = objectOf(raw.spanContext) ?? {};
  const start = momentOf(raw.startTime);
  const end = momentOf(raw.endTime);
  const { kind } = raw;
  const { code } = objectOf(raw.status) ?? {};
  return {
    traceId: hexId(context.traceId),
    spanId: hexId(context.spanId),
    parentSpanId: hexId(raw.parentSpanId ?? objectOf(raw.parentSpanContext)?.spanId),
    name: textOf(raw.name),
    // The SDK numbers kinds from 0, internal.
    kind: typeof kind === 'number' ? kind + 1 : 0,
    startMs: start?.ms,
    startNs: start?.ns ?? 0,
    durationMs: start && end && msBetween(start, end),
    endIsSet: end !== undefined,
    statusCode: typeof code === 'number' ? code : 0,
    attributes: attributesOf(raw.attributes),
    resource: attributesOf(objectOf(raw.resource)?.attributes),
    events: start === undefined ? [] : eventsOf(raw.events, start),
    traceState: textOf(context.traceState),
  };
}

function eventsOf(events: unknown, start: Moment): readonly SpanEvent[] {
  return listOf(events).flatMap((entry) => {
    const event = objectOf(entry) ?? {};
    const time = momentOf(event.time);
    if (time === undefined) return [];
    const attributes = attributesOf(event.attributes);
    return [{ name: textOf(event.name), sinceStartMs: msBetween(start, time), attributes }];
  });
}

function momentOf(pair: unknown): Moment | undefined {
  const [s, ns] = listOf(pair);
  if (typeof s !== 'number' || typeof ns !== 'number') return undefined;
  if (!Number.isSafeInteger(s * 1000) || s <= 0 || !(ns >= 0 && ns < 1e9)) return undefined;
  return { ms: s * 1000 + Math.floor(ns / 1e6), ns: Math.floor(ns % 1e6) };
}
