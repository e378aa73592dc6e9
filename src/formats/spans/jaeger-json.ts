import { type JsonObject, listOf, notJson, objectOf, parsed, textOf } from '../loose-json.ts';
import {
  type Attributes,
  type AttributeValue,
  hexId,
  type Moment,
  msBetween,
  type Span,
  type SpanEvent,
  toNanosecond,
} from '../span.ts';
import { excessOf, excessOfResource, putSpan, type SpanSink } from './span-reader.ts';
import { kindOfTags, statusCodeOfTags } from './span-tags.ts';

/**
 * Reads one span as protobuf's JSON of `jaeger.api_v2.Span`, as the collector and Jaeger write it to Kafka: ids
 * are base64, a duration is "0.0048s". It is not the JSON of Jaeger's user interface.
 */
export function readJaegerJson(text: string, sink: SpanSink): string | undefined {
  const value = parsed(text);
  if (value === undefined) return notJson;
  const raw = objectOf(value);
  if (raw === undefined) return 'A span must be a JSON object, and is not.';
  if (idOf(raw.traceId) === '')
    return 'A span of Jaeger must have a traceId in base64, and has none.';
  const fault =
    excessOfResource(objectOf(raw.process)?.tags) ?? excessOf(raw.tags, raw.logs, 'fields');
  putSpan(fault ?? spanOf(raw), { bytes: () => Buffer.from(text) }, sink);
  return undefined;
}

function spanOf(raw: JsonObject): Span {
  const start = momentOf(raw.startTime);
  const durationMs = raw.duration === undefined ? 0 : msOf(raw.duration);
  const tags = tagsOf(raw.tags);
  const process = objectOf(raw.process);
  const resource = tagsOf(process?.tags);
  const service = textOf(process?.serviceName);
  if (service !== '') resource.set('service.name', service);
  return {
    traceId: idOf(raw.traceId),
    spanId: idOf(raw.spanId),
    parentSpanId: parentOf(raw.references),
    name: textOf(raw.operationName),
    kind: kindOfTags(tags),
    startMs: start?.ms,
    startNs: start?.ns ?? 0,
    durationMs: start && durationMs,
    endIsSet: durationMs !== undefined,
    statusCode: statusCodeOfTags(tags),
    attributes: tags,
    resource,
    events: start === undefined ? [] : eventsOf(raw.logs, start),
    traceState: textOf(tags.get('w3c.tracestate')),
  };
}

function idOf(id: unknown): string {
  if (typeof id !== 'string' || id.length > 32) return '';
  return hexId(Buffer.from(id, 'base64').toString('hex'));
}

function parentOf(references: unknown): string {
  const kinds = ['CHILD_OF', 0, undefined];
  const entries = listOf(references).map((entry) => objectOf(entry) ?? {});
  return idOf(entries.find(({ refType }) => kinds.includes(refType as string))?.spanId);
}

function tagsOf(tags: unknown): Map<string, AttributeValue> {
  const found = new Map<string, AttributeValue>();
  for (const entry of listOf(tags)) {
    const tag = objectOf(entry) ?? {};
    const value = tagValueOf(tag);
    if (typeof tag.key === 'string' && value !== undefined) found.set(tag.key, value);
  }
  return found;
}

/** Defaults are left out: a tag without a value has that of its kind. Bytes are left out too. */
function tagValueOf({
  vType,
  vStr,
  vBool,
  vInt64,
  vFloat64,
}: JsonObject): AttributeValue | undefined {
  switch (vType) {
    case 'BOOL':
    case 1:
      return vBool === true;
    case 'INT64':
    case 2:
      return finite(vInt64 ?? 0);
    case 'FLOAT64':
    case 3:
      return finite(vFloat64 ?? 0);
    case 'BINARY':
    case 4:
      return undefined;
    default:
      return textOf(vStr);
  }
}

function finite(value: unknown): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

const dateTime = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;

/** Reads RFC 3339 to the nanosecond; undefined for the epoch and before it. */
function momentOf(time: unknown): Moment | undefined {
  const [, seconds, fraction = '', zone] = dateTime.exec(textOf(time)) ?? [];
  if (seconds === undefined || zone === undefined) return undefined;
  const ms = Date.parse(seconds + zone);
  const ns = Number(fraction.padEnd(9, '0'));
  if (!(ms >= 0) || (ms === 0 && ns === 0)) return undefined;
  return { ms: ms + Math.floor(ns / 1e6), ns: ns % 1e6 };
}

const unitsMs: Readonly<Record<string, number>> = { s: 1000, ms: 1, us: 1e-3, µs: 1e-3, ns: 1e-6 };
const durationPattern = /^(-?\d{1,12}(?:\.\d{1,9})?)(s|ms|us|µs|ns)$/;

function msOf(duration: unknown): number | undefined {
  const [, number, unit = ''] = durationPattern.exec(textOf(duration)) ?? [];
  const unitMs = unitsMs[unit];
  return number === undefined || unitMs === undefined
    ? undefined
    : toNanosecond(Number(number) * unitMs);
}

function eventsOf(logs: unknown, start: Moment): readonly SpanEvent[] {
  return listOf(logs).flatMap((entry) => {
    const { timestamp, fields } = objectOf(entry) ?? {};
    const time = momentOf(timestamp);
    if (time === undefined) return [];
    const attributes: Attributes = tagsOf(fields);
    const name = String(attributes.get('event') ?? attributes.get('name') ?? '');
    return [{ name, sinceStartMs: msBetween(start, time), attributes }];
  });
}
