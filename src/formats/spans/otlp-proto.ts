import { ProtoReader, wireTypes } from '../protobuf/proto-reader.ts';
import { OtlpEnvelope, requestOfSpan } from './otlp-envelope.ts';
import {
  type Attributes,
  type AttributeValue,
  type Moment,
  msBetween,
  msOfNs,
  nsBeyondMs,
  type Span,
  type SpanEvent,
} from './span.ts';
import type { SpanSink } from './span-reader.ts';

/** Bytes of a trace's id, the longest id there is. */
const MAX_ID_BYTES = 16;

/**
 * Reads an ExportTraceServiceRequest as protobuf, the way the collector and the SDKs write it. Its spans are the
 * same as `readOtlpJson` gives of the same request.
 *
 * A span that cannot be read, or whose resource cannot, is malformed by itself. Where the messages around the
 * spans cannot be read, none is given and the sentence is returned.
 */
export function readOtlpProto(bytes: Buffer, sink: SpanSink): string | undefined {
  const envelope = new OtlpEnvelope();
  envelope.begin(bytes);
  if (envelope.problem !== undefined) return envelope.problem;
  let resourceNumber = -1;
  let resource: Attributes | string = '';
  while (envelope.next()) {
    if (resourceNumber !== envelope.resourceNumber) {
      resourceNumber = envelope.resourceNumber;
      resource = otlpResource(bytes, envelope.resourceStart, envelope.resourceEnd);
    }
    const { start, end, resourceStart, resourceEnd, scopeStart, scopeEnd } = envelope;
    const origin = {
      bytes: () =>
        requestOfSpan(
          bytes,
          { start: resourceStart, end: resourceEnd },
          { start: scopeStart, end: scopeEnd },
          { start, end },
        ),
    };
    const span = typeof resource === 'string' ? resource : otlpSpan(bytes, start, end, resource);
    if (typeof span === 'string') sink.malformed(span, origin);
    else sink.span(span, origin);
  }
  return undefined;
}

/** Reads the attributes of the Resource at `[start, end)`, or says in a sentence what is wrong with it. */
export function otlpResource(bytes: Buffer, start: number, end: number): Attributes | string {
  const reader = new ProtoReader(bytes, start, end);
  const attributes = new Map<string, AttributeValue>();
  while (reader.next()) {
    if (reader.field === 1 && reader.is(wireTypes.bytes))
      addAttribute(reader.message(), attributes);
  }
  return problemOf(reader, 'resource', start) ?? attributes;
}

/** Reads the Span at `[start, end)`, or says in a sentence what is wrong with it. */
export function otlpSpan(
  bytes: Buffer,
  start: number,
  end: number,
  resource: Attributes,
): Span | string {
  const reader = new ProtoReader(bytes, start, end);
  const attributes = new Map<string, AttributeValue>();
  const ids = ['', '', '', '', ''];
  const events: EventAt[] = [];
  let [name, traceState] = ['', ''];
  let [kind, statusCode] = [0, 0];
  let begun: Moment | undefined;
  let ended: Moment | undefined;
  while (reader.next()) {
    const { field } = reader;
    if (field === 1 || field === 2 || field === 4) ids[field] = idOf(reader);
    else if (field === 3) traceState = textOf(reader);
    else if (field === 5) name = textOf(reader);
    else if (field === 6) kind = enumOf(reader);
    else if (field === 7) begun = momentOf(reader);
    else if (field === 8) ended = momentOf(reader);
    else if (field === 9 && reader.is(wireTypes.bytes)) addAttribute(reader.message(), attributes);
    else if (field === 11 && reader.is(wireTypes.bytes)) events.push(eventOf(reader.message()));
    else if (field === 15 && reader.is(wireTypes.bytes)) {
      statusCode = statusCodeOf(reader.message(), statusCode);
    }
  }
  const problem = problemOf(reader, 'span', start);
  if (problem !== undefined) return problem;
  return {
    traceId: ids[1] ?? '',
    spanId: ids[2] ?? '',
    parentSpanId: ids[4] ?? '',
    name,
    kind,
    startMs: begun?.ms,
    startNs: begun?.ns ?? 0,
    durationMs: begun && ended && msBetween(begun, ended),
    endIsSet: ended !== undefined,
    statusCode,
    attributes,
    resource,
    events: begun === undefined ? [] : eventsSince(begun, events),
    traceState,
  };
}

function problemOf({ fault }: ProtoReader, name: string, start: number): string | undefined {
  if (fault.text === '') return undefined;
  return `The ${name} must be that of OTLP in protobuf: at its byte ${fault.at - start}, ${fault.text}`;
}

interface EventAt {
  readonly name: string;
  readonly time: Moment | undefined;
  readonly attributes: Attributes;
}

function eventOf(reader: ProtoReader): EventAt {
  const attributes = new Map<string, AttributeValue>();
  let name = '';
  let time: Moment | undefined;
  while (reader.next()) {
    if (reader.field === 1) time = momentOf(reader);
    else if (reader.field === 2) name = textOf(reader);
    else if (reader.field === 3 && reader.is(wireTypes.bytes)) {
      addAttribute(reader.message(), attributes);
    }
  }
  return { name, time, attributes };
}

function eventsSince(start: Moment, events: readonly EventAt[]): readonly SpanEvent[] {
  return events.flatMap(({ name, time, attributes }) =>
    time === undefined ? [] : [{ name, sinceStartMs: msBetween(start, time), attributes }],
  );
}

function statusCodeOf(reader: ProtoReader, before: number): number {
  let code = before;
  while (reader.next()) if (reader.field === 3) code = enumOf(reader);
  return code;
}

/** Reads a KeyValue. One without a key is left out, or whose value is a list, a map, bytes or no number. */
function addAttribute(reader: ProtoReader, attributes: Map<string, AttributeValue>): void {
  let key = '';
  let value: AttributeValue | undefined;
  while (reader.next()) {
    if (reader.field === 1) key = textOf(reader);
    else if (reader.field === 2 && reader.is(wireTypes.bytes)) {
      value = anyValueOf(reader.message(), value);
    }
  }
  if (key !== '' && value !== undefined) attributes.set(key, value);
}

/** Reads an AnyValue, of whose fields the last one counts. A list or a map is not entered. */
function anyValueOf(
  reader: ProtoReader,
  before: AttributeValue | undefined,
): AttributeValue | undefined {
  let value = before;
  while (reader.next()) {
    const { field } = reader;
    if (field === 1 && reader.is(wireTypes.bytes)) value = reader.text();
    else if (field === 2 && reader.is(wireTypes.varint)) value = reader.bool();
    else if (field === 3 && reader.is(wireTypes.varint)) value = reader.int();
    else if (field === 4 && reader.is(wireTypes.fixed64)) value = finite(reader.double());
    else if (field >= 5 && field <= 7 && reader.is(wireTypes.bytes)) value = undefined;
  }
  return value;
}

const finite = (value: number) => (Number.isFinite(value) ? value : undefined);

function textOf(reader: ProtoReader): string {
  return reader.is(wireTypes.bytes) ? reader.text() : '';
}

/** An enum has 32 bits, which a negative number fills. */
function enumOf(reader: ProtoReader): number {
  return reader.is(wireTypes.varint) ? reader.low : 0;
}

function momentOf(reader: ProtoReader): Moment | undefined {
  if (!reader.is(wireTypes.fixed64)) return undefined;
  const { low, high } = reader;
  if (low === 0 && high === 0) return undefined;
  return { ms: msOfNs(low, high), ns: nsBeyondMs(low, high) };
}

function idOf(reader: ProtoReader): string {
  if (!reader.is(wireTypes.bytes) || reader.end - reader.start > MAX_ID_BYTES) return '';
  const hex = reader.bytes.toString('hex', reader.start, reader.end);
  return /^0*$/.test(hex) ? '' : hex;
}
