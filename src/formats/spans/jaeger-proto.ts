import { limits } from '../../base/limits.ts';
import { type ProtoFault, ProtoReader, wireTypes } from '../protobuf/proto-reader.ts';
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
import {
  putSpan,
  type SpanFault,
  type SpanSink,
  tooManyOfResource,
  tooManyParts,
} from './span-reader.ts';
import { kindOfTags, statusCodeOfTags } from './span-tags.ts';

const NS_PER_MS = 1_000_000;
const CHILD_OF = 0;
const NO_BYTES = Buffer.alloc(0);

/**
 * Reads one `jaeger.api_v2.Span`, as the collector and Jaeger write it to Kafka.
 *
 * Definition: https://github.com/jaegertracing/jaeger-idl, proto/api_v2/model.proto.
 */
export function readJaegerProto(bytes: Buffer, sink: SpanSink): string | undefined {
  const reader = new ProtoReader(bytes);
  const parts = new PartReader(reader.fault);
  const tags = new Map<string, AttributeValue>();
  const resource = new Map<string, AttributeValue>();
  const logs: Log[] = [];
  const origin = { bytes: () => Buffer.from(bytes) };
  let [traceId, spanId, parentSpanId] = ['', '', ''];
  let [nameStart, nameEnd] = [0, 0];
  let start: Moment | undefined;
  // Protobuf leaves out a message whose fields are all 0.
  let durationMs: number | undefined = 0;
  while (reader.next()) {
    const { field } = reader;
    if (field === 1) traceId = idOf(reader);
    else if (field === 2) spanId = idOf(reader);
    else if (field === 3 && reader.is(wireTypes.bytes)) {
      nameStart = reader.start;
      nameEnd = reader.end;
    } else if (field === 4 && reader.is(wireTypes.bytes)) {
      parentSpanId ||= parentOf(parts.part(reader));
    } else if (field === 6 && reader.is(wireTypes.bytes)) start = momentOf(parts.part(reader));
    else if (field === 7 && reader.is(wireTypes.bytes)) durationMs = msOf(parts.part(reader));
    else if (field === 8 && reader.is(wireTypes.bytes)) parts.addTag(reader, tags);
    else if (field === 9 && reader.is(wireTypes.bytes)) parts.addLog(reader, logs);
    else if (field === 10 && reader.is(wireTypes.bytes)) parts.addProcess(reader, resource);
    const { excess } = parts;
    if (excess !== undefined) {
      putSpan(excess, origin, sink);
      return undefined;
    }
  }
  const { text, at } = reader.fault;
  if (text !== '')
    return `The message must be a span of Jaeger in protobuf: at byte ${at}, ${text}`;
  if (traceId === '') return 'The message must be a span of Jaeger in protobuf: it has no trace id';
  const span: Span = {
    ...{ traceId, spanId, parentSpanId },
    name: bytes.toString('utf8', nameStart, nameEnd),
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
  sink.span(span, origin);
  return undefined;
}

interface Log {
  readonly time: Moment;
  readonly fields: Attributes;
}

const noFields: Attributes = new Map();

function eventsSince(start: Moment, logs: readonly Log[]): readonly SpanEvent[] {
  return logs.map(({ time, fields }) => {
    const name = String(fields.get('event') ?? fields.get('name') ?? '');
    return { name, sinceStartMs: msBetween(start, time), attributes: fields };
  });
}

/** Reads the parts of a span and counts them. There may be millions, so its readers are used again. */
class PartReader {
  readonly #part: ProtoReader;
  readonly #inner: ProtoReader;
  readonly #tag: ProtoReader;
  /** Tags and logs of the span, with the fields of its logs; tags of the process. */
  #count = 0;
  #processCount = 0;

  constructor(fault: ProtoFault) {
    this.#part = new ProtoReader(NO_BYTES, 0, 0, fault);
    this.#inner = new ProtoReader(NO_BYTES, 0, 0, fault);
    this.#tag = new ProtoReader(NO_BYTES, 0, 0, fault);
  }

  /** The reason why the rest of the span is not read. */
  get excess(): SpanFault | undefined {
    if (this.#processCount > limits.spanParts) return tooManyOfResource;
    return this.#count > limits.spanParts ? tooManyParts : undefined;
  }

  /** Reader of the message at which another one is. */
  part({ bytes, start, end }: ProtoReader): ProtoReader {
    this.#part.begin(bytes, start, end);
    return this.#part;
  }

  addTag(at: ProtoReader, tags: Map<string, AttributeValue>): void {
    this.#count++;
    this.#addTag(at, tags);
  }

  /** Reads a log. One without a time is left out. */
  addLog(at: ProtoReader, logs: Log[]): void {
    const reader = this.part(at);
    let fields: Map<string, AttributeValue> | undefined;
    let time: Moment | undefined;
    this.#count++;
    while (reader.next() && this.#count <= limits.spanParts) {
      if (reader.field === 1 && reader.is(wireTypes.bytes)) {
        this.#inner.begin(reader.bytes, reader.start, reader.end);
        time = momentOf(this.#inner);
      } else if (reader.field === 2 && reader.is(wireTypes.bytes)) {
        fields ??= new Map();
        this.addTag(reader, fields);
      }
    }
    if (time !== undefined) logs.push({ time, fields: fields ?? noFields });
  }

  addProcess(at: ProtoReader, resource: Map<string, AttributeValue>): void {
    const reader = this.part(at);
    let [nameStart, nameEnd] = [-1, -1];
    while (reader.next() && this.#processCount <= limits.spanParts) {
      if (reader.field === 1 && reader.is(wireTypes.bytes)) {
        nameStart = reader.start;
        nameEnd = reader.end;
      } else if (reader.field === 2 && reader.is(wireTypes.bytes)) {
        this.#processCount++;
        this.#addTag(reader, resource);
      }
    }
    if (nameStart >= 0) {
      resource.set('service.name', reader.bytes.toString('utf8', nameStart, nameEnd));
    }
  }

  /** Reads a KeyValue, whose kind says which value counts. Bytes are left out. */
  #addTag({ bytes, start, end }: ProtoReader, tags: Map<string, AttributeValue>): void {
    const reader = this.#tag;
    let [keyStart, keyEnd, textStart, textEnd] = [0, 0, 0, 0];
    let kind = 0;
    let [bool, int, double] = [false, 0, 0];
    reader.begin(bytes, start, end);
    while (reader.next()) {
      const { field } = reader;
      if (field === 1 && reader.is(wireTypes.bytes)) {
        keyStart = reader.start;
        keyEnd = reader.end;
      } else if (field === 2 && reader.is(wireTypes.varint)) kind = reader.low;
      else if (field === 3 && reader.is(wireTypes.bytes)) {
        textStart = reader.start;
        textEnd = reader.end;
      } else if (field === 4 && reader.is(wireTypes.varint)) bool = reader.bool();
      else if (field === 5 && reader.is(wireTypes.varint)) int = reader.int();
      else if (field === 6 && reader.is(wireTypes.fixed64)) double = reader.double();
    }
    const found =
      kind === 0
        ? bytes.toString('utf8', textStart, textEnd)
        : [undefined, bool, int, double][kind];
    if (found !== undefined && !(typeof found === 'number' && !Number.isFinite(found))) {
      tags.set(bytes.toString('utf8', keyStart, keyEnd), found);
    }
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
