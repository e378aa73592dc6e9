import { limits } from '../../base/limits.ts';
import { ProtoFault, ProtoReader, wireTypes } from '../protobuf/proto-reader.ts';
import {
  type Attributes,
  type AttributeValue,
  type Moment,
  msBetween,
  msOfNs,
  nsBeyondMs,
  parentIsRemoteBy,
  type Span,
  type SpanEvent,
} from '../span.ts';
import { OtlpEnvelope, requestOfSpan } from './otlp-envelope.ts';
import {
  putSpan,
  type SpanFault,
  type SpanSink,
  tooManyOfResource,
  tooManyParts,
} from './span-reader.ts';

/** Bytes of a trace's id, the longest id there is. */
const MAX_ID_BYTES = 16;
const NO_BYTES = Buffer.alloc(0);
const noAttributes: Attributes = new Map();

/**
 * Reads an ExportTraceServiceRequest as protobuf, the way the collector and the SDKs write it. Its spans are the
 * same as `readOtlpJson` gives of the same request.
 *
 * A span that cannot be read, or whose resource cannot, is malformed alone. Where the messages around the
 * spans cannot be read, none is given and the sentence is returned.
 */
export function readOtlpProto(bytes: Buffer, sink: SpanSink): string | undefined {
  const envelope = new OtlpEnvelope();
  envelope.begin(bytes);
  if (envelope.problem !== undefined) return envelope.problem;
  let resourceNumber = -1;
  let resource: Attributes | SpanFault = noAttributes;
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
    putSpan('detail' in resource ? resource : otlpSpan(bytes, start, end, resource), origin, sink);
  }
  return undefined;
}

/** Reads the attributes of the Resource at `[start, end)`. */
export function otlpResource(bytes: Buffer, start: number, end: number): Attributes | SpanFault {
  return parts.resource(bytes, start, end);
}

/** Reads the Span at `[start, end)`. */
export function otlpSpan(
  bytes: Buffer,
  start: number,
  end: number,
  resource: Attributes,
): Span | SpanFault {
  return parts.span(bytes, start, end, resource);
}

interface EventAt {
  readonly name: string;
  readonly time: Moment;
  readonly attributes: Attributes;
}

/**
 * Reads spans and resources. A message may have millions of parts that are nothing, so its readers are used
 * again, and of a field that is there several times only the last text is made.
 */
class PartReader {
  readonly #fault = new ProtoFault();
  readonly #whole = new ProtoReader(NO_BYTES, 0, 0, this.#fault);
  /** Of an event or a status. */
  readonly #part = new ProtoReader(NO_BYTES, 0, 0, this.#fault);
  readonly #pair = new ProtoReader(NO_BYTES, 0, 0, this.#fault);
  readonly #value = new ProtoReader(NO_BYTES, 0, 0, this.#fault);
  /** Attributes and events so far. */
  #count = 0;

  resource(bytes: Buffer, start: number, end: number): Attributes | SpanFault {
    const reader = this.#begin(bytes, start, end);
    const attributes = new Map<string, AttributeValue>();
    while (reader.next()) {
      if (reader.field !== 1 || !reader.is(wireTypes.bytes)) continue;
      if (++this.#count > limits.spanParts) return tooManyOfResource;
      this.#attribute(reader, attributes);
    }
    return this.#problem('resource', start) ?? attributes;
  }

  span(bytes: Buffer, start: number, end: number, resource: Attributes): Span | SpanFault {
    const reader = this.#begin(bytes, start, end);
    const attributes = new Map<string, AttributeValue>();
    const ids = ['', '', '', '', ''];
    const events: EventAt[] = [];
    let [name, traceState] = [noRange, noRange];
    let [kind, statusCode, flags] = [0, 0, 0];
    let begun: Moment | undefined;
    let ended: Moment | undefined;
    while (reader.next()) {
      const { field } = reader;
      if (field === 1 || field === 2 || field === 4) ids[field] = idOf(reader);
      else if (field === 3) traceState = rangeOf(reader);
      else if (field === 5) name = rangeOf(reader);
      else if (field === 6) kind = enumOf(reader);
      else if (field === 7) begun = momentOf(reader);
      else if (field === 8) ended = momentOf(reader);
      else if (field === 9 && reader.is(wireTypes.bytes)) {
        this.#count++;
        this.#attribute(reader, attributes);
      } else if (field === 11 && reader.is(wireTypes.bytes)) {
        this.#count++;
        this.#event(reader, events);
      } else if (field === 15 && reader.is(wireTypes.bytes)) {
        statusCode = this.#statusCode(reader, statusCode);
      } else if (field === 16 && reader.is(wireTypes.fixed32)) flags = reader.low;
      if (this.#count > limits.spanParts) return tooManyParts;
    }
    const problem = this.#problem('span', start);
    if (problem !== undefined) return problem;
    return {
      traceId: ids[1] ?? '',
      spanId: ids[2] ?? '',
      parentSpanId: ids[4] ?? '',
      name: textAt(bytes, name),
      kind,
      startMs: begun?.ms,
      startNs: begun?.ns ?? 0,
      durationMs: begun && ended && msBetween(begun, ended),
      endIsSet: ended !== undefined,
      statusCode,
      attributes,
      resource,
      events: begun === undefined ? [] : eventsSince(begun, events),
      traceState: textAt(bytes, traceState),
      parentIsRemote: parentIsRemoteBy(flags),
    };
  }

  #begin(bytes: Buffer, start: number, end: number): ProtoReader {
    this.#fault.clear();
    this.#count = 0;
    this.#whole.begin(bytes, start, end);
    return this.#whole;
  }

  #problem(name: string, start: number): SpanFault | undefined {
    const { text, at } = this.#fault;
    if (text === '') return undefined;
    const place = `at its byte ${at - start}, ${text}`;
    return { detail: `The ${name} must be that of OTLP in protobuf: ${place}` };
  }

  /** Reads an event. One without a time is left out. */
  #event({ bytes, start, end }: ProtoReader, events: EventAt[]): void {
    const reader = this.#part;
    let attributes: Map<string, AttributeValue> | undefined;
    let name = noRange;
    let time: Moment | undefined;
    reader.begin(bytes, start, end);
    while (reader.next() && this.#count <= limits.spanParts) {
      if (reader.field === 1) time = momentOf(reader);
      else if (reader.field === 2) name = rangeOf(reader);
      else if (reader.field === 3 && reader.is(wireTypes.bytes)) {
        this.#count++;
        attributes ??= new Map();
        this.#attribute(reader, attributes);
      }
    }
    if (time === undefined) return;
    events.push({ name: textAt(bytes, name), time, attributes: attributes ?? noAttributes });
  }

  #statusCode({ bytes, start, end }: ProtoReader, before: number): number {
    const reader = this.#part;
    let code = before;
    reader.begin(bytes, start, end);
    while (reader.next()) if (reader.field === 3) code = enumOf(reader);
    return code;
  }

  /** Reads a KeyValue. One without a key is left out, or whose value is a list, a map, bytes or no number. */
  #attribute({ bytes, start, end }: ProtoReader, attributes: Map<string, AttributeValue>): void {
    const reader = this.#pair;
    let key = noRange;
    let value: AttributeValue | Range | undefined;
    reader.begin(bytes, start, end);
    while (reader.next()) {
      if (reader.field === 1) key = rangeOf(reader);
      else if (reader.field === 2 && reader.is(wireTypes.bytes)) value = this.#any(reader, value);
    }
    if (value === undefined || key.end === key.start || this.#fault.text !== '') return;
    attributes.set(textAt(bytes, key), typeof value === 'object' ? textAt(bytes, value) : value);
  }

  /** Reads an AnyValue, of whose fields the last one counts. A list or a map is not entered. */
  #any(
    { bytes, start, end }: ProtoReader,
    before: AttributeValue | Range | undefined,
  ): AttributeValue | Range | undefined {
    const reader = this.#value;
    let value = before;
    reader.begin(bytes, start, end);
    while (reader.next()) {
      const { field } = reader;
      if (field === 1 && reader.is(wireTypes.bytes)) value = rangeOf(reader);
      else if (field === 2 && reader.is(wireTypes.varint)) value = reader.bool();
      else if (field === 3 && reader.is(wireTypes.varint)) value = reader.int();
      else if (field === 4 && reader.is(wireTypes.fixed64)) value = finite(reader.double());
      else if (field >= 5 && field <= 7 && reader.is(wireTypes.bytes)) value = undefined;
    }
    return value;
  }
}

const parts = new PartReader();

function eventsSince(start: Moment, events: readonly EventAt[]): readonly SpanEvent[] {
  return events.map(({ name, time, attributes }) => ({
    name,
    sinceStartMs: msBetween(start, time),
    attributes,
  }));
}

const finite = (value: number) => (Number.isFinite(value) ? value : undefined);

/** Place of a text. */
interface Range {
  readonly start: number;
  readonly end: number;
}

const noRange: Range = { start: 0, end: 0 };

function rangeOf(reader: ProtoReader): Range {
  const { start, end } = reader;
  return reader.is(wireTypes.bytes) ? { start, end } : noRange;
}

/** Text of a range; what is no UTF-8 becomes U+FFFD. */
function textAt(bytes: Buffer, { start, end }: Range): string {
  return bytes.toString('utf8', start, end);
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
