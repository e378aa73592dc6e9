import { ProtoReader, wireTypes } from '../protobuf/proto-reader.ts';
import {
  type Attributes,
  type AttributeValue,
  hexId,
  type Moment,
  msBetween,
  type Span,
  type SpanEvent,
  toNanosecond,
} from './span.ts';
import type { SpanSink } from './span-reader.ts';
import { kindOfTags, statusCodeOfTags } from './span-tags.ts';

const NS_PER_MS = 1_000_000;
const CHILD_OF = 0;

/**
 * Reads one `jaeger.api_v2.Span`, as the collector and Jaeger write it to Kafka.
 *
 * Definition: https://github.com/jaegertracing/jaeger-idl, proto/api_v2/model.proto.
 */
export function readJaegerProto(bytes: Buffer, sink: SpanSink): string | undefined {
  const reader = new ProtoReader(bytes);
  const tags = new Map<string, AttributeValue>();
  const resource = new Map<string, AttributeValue>();
  const logs: Log[] = [];
  let [traceId, spanId, parentSpanId, name] = ['', '', '', ''];
  let start: Moment | undefined;
  // Protobuf leaves out a message whose fields are all 0.
  let durationMs: number | undefined = 0;
  while (reader.next()) {
    const { field } = reader;
    if (field === 1) traceId = idOf(reader);
    else if (field === 2) spanId = idOf(reader);
    else if (field === 3 && reader.is(wireTypes.bytes)) name = reader.text();
    else if (field === 4 && reader.is(wireTypes.bytes)) parentSpanId ||= parentOf(reader.message());
    else if (field === 6 && reader.is(wireTypes.bytes)) start = momentOf(reader.message());
    else if (field === 7 && reader.is(wireTypes.bytes)) durationMs = msOf(reader.message());
    else if (field === 8 && reader.is(wireTypes.bytes)) addTag(reader.message(), tags);
    else if (field === 9 && reader.is(wireTypes.bytes)) logs.push(logOf(reader.message()));
    else if (field === 10 && reader.is(wireTypes.bytes)) addProcess(reader.message(), resource);
  }
  const { text, at } = reader.fault;
  if (text !== '')
    return `The message must be a span of Jaeger in protobuf: at byte ${at}, ${text}`;
  if (traceId === '') return 'The message must be a span of Jaeger in protobuf: it has no trace id';
  const span: Span = {
    ...{ traceId, spanId, parentSpanId, name },
    kind: kindOfTags(tags),
    startMs: start?.ms,
    startNs: start?.ns ?? 0,
    durationMs: start && durationMs,
    endIsSet: durationMs !== undefined,
    statusCode: statusCodeOfTags(tags),
    attributes: tags,
    resource,
    events: start === undefined ? [] : eventsSince(start, logs),
    traceState: String(tags.get('w3c.tracestate') ?? ''),
  };
  sink.span(span, { bytes: () => Buffer.from(bytes) });
  return undefined;
}

interface Log {
  readonly time: Moment | undefined;
  readonly fields: Attributes;
}

function eventsSince(start: Moment, logs: readonly Log[]): readonly SpanEvent[] {
  return logs.flatMap(({ time, fields }) => {
    if (time === undefined) return [];
    const name = String(fields.get('event') ?? fields.get('name') ?? '');
    return [{ name, sinceStartMs: msBetween(start, time), attributes: fields }];
  });
}

function logOf(reader: ProtoReader): Log {
  const fields = new Map<string, AttributeValue>();
  let time: Moment | undefined;
  while (reader.next()) {
    if (reader.field === 1 && reader.is(wireTypes.bytes)) time = momentOf(reader.message());
    else if (reader.field === 2 && reader.is(wireTypes.bytes)) addTag(reader.message(), fields);
  }
  return { time, fields };
}

function addProcess(reader: ProtoReader, resource: Map<string, AttributeValue>): void {
  while (reader.next()) {
    if (reader.field === 1 && reader.is(wireTypes.bytes)) {
      resource.set('service.name', reader.text());
    } else if (reader.field === 2 && reader.is(wireTypes.bytes)) {
      addTag(reader.message(), resource);
    }
  }
}

/** Reads a KeyValue, whose kind says which value counts. Bytes are left out. */
function addTag(reader: ProtoReader, tags: Map<string, AttributeValue>): void {
  let key = '';
  let kind = 0;
  const value: AttributeValue[] = ['', false, 0, 0];
  while (reader.next()) {
    const { field } = reader;
    if (field === 1 && reader.is(wireTypes.bytes)) key = reader.text();
    else if (field === 2 && reader.is(wireTypes.varint)) kind = reader.low;
    else if (field === 3 && reader.is(wireTypes.bytes)) value[0] = reader.text();
    else if (field === 4 && reader.is(wireTypes.varint)) value[1] = reader.bool();
    else if (field === 5 && reader.is(wireTypes.varint)) value[2] = reader.int();
    else if (field === 6 && reader.is(wireTypes.fixed64)) value[3] = reader.double();
  }
  const found = value[kind];
  if (found !== undefined && !(typeof found === 'number' && !Number.isFinite(found))) {
    tags.set(key, found);
  }
}

function parentOf(reader: ProtoReader): string {
  let spanId = '';
  let kind = CHILD_OF;
  while (reader.next()) {
    if (reader.field === 2) spanId = idOf(reader);
    else if (reader.field === 3 && reader.is(wireTypes.varint)) kind = reader.low;
  }
  return kind === CHILD_OF ? spanId : '';
}

/** Reads a Timestamp; undefined for the epoch and before it. */
function momentOf(reader: ProtoReader): Moment | undefined {
  const { s, ns } = secondsOf(reader);
  if (!(s >= 0) || (s === 0 && ns === 0) || !Number.isSafeInteger(s * 1000)) return undefined;
  return { ms: s * 1000 + Math.floor(ns / NS_PER_MS), ns: ns % NS_PER_MS };
}

/** Reads a Duration. */
function msOf(reader: ProtoReader): number {
  const { s, ns } = secondsOf(reader);
  return toNanosecond(s * 1000 + ns / NS_PER_MS);
}

function secondsOf(reader: ProtoReader): { readonly s: number; readonly ns: number } {
  let [s, ns] = [0, 0];
  while (reader.next()) {
    if (reader.field === 1 && reader.is(wireTypes.varint)) s = reader.int();
    else if (reader.field === 2 && reader.is(wireTypes.varint)) ns = reader.int();
  }
  return { s, ns };
}

function idOf(reader: ProtoReader): string {
  return reader.is(wireTypes.bytes)
    ? hexId(reader.bytes.toString('hex', reader.start, reader.end))
    : '';
}
