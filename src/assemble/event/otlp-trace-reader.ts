import { ProtoReader, wireTypes } from '../../formats/protobuf/proto-reader.ts';
import { OtlpEnvelope, requestOfSpan } from '../../formats/spans/otlp-envelope.ts';
import { otlpResource, otlpSpan } from '../../formats/spans/otlp-proto.ts';
import type { Attributes } from '../../formats/spans/span.ts';
import { textFrom } from '../../formats/spans/span-events.ts';
import type { TraceSpan } from '../trace.ts';
import type { TraceRules } from './trace-rules.ts';
import { SPAN_BYTES, traceSpanOf } from './trace-span-of.ts';
import type { TraceSpanSink } from './trace-span-sink.ts';

const NO_BYTES: Buffer = Buffer.alloc(0);
/** Bytes of a trace's id, and of a span's. */
const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;
/** Resources that are kept at once, and the longest text or resource. */
const KEPT = 2_000;
const KEPT_BYTES = 4_096;

const NAME_SLOTS = 4_096;

interface KeptName {
  readonly bytes: Uint8Array;
  readonly text: string;
}

interface Resource {
  readonly attributes: Attributes | string;
  readonly service: string;
}

/**
 * Reads the spans of OTLP protobuf as open traces keep them, the same as `readOtlpProto` and `traceSpanOf`
 * give. Of a span that is no root it reads five fields, and names and resources that it has seen cost no
 * memory: that is most of the time of an assembler.
 */
export class OtlpTraceReader {
  readonly #rules: TraceRules;
  readonly #envelope = new OtlpEnvelope();
  readonly #reader = new ProtoReader(NO_BYTES);
  /** Names by a hash of their bytes; of two with one hash, the last. */
  readonly #names: (KeptName | undefined)[] = new Array(NAME_SLOTS).fill(undefined);
  readonly #resources = new Map<string, Resource>();
  /** The last trace id, by four integers and as text. */
  readonly #traceIdParts = new Int32Array(TRACE_ID_BYTES / 4);
  #traceId = '';

  constructor(rules: TraceRules) {
    this.#rules = rules;
  }

  /** Reads a message. @returns what is wrong with it as a whole */
  read(bytes: Buffer, sink: TraceSpanSink): string | undefined {
    const envelope = this.#envelope;
    envelope.begin(bytes);
    if (envelope.problem !== undefined) return envelope.problem;
    let resourceNumber = -1;
    let resource: Resource = { attributes: '', service: '' };
    while (envelope.next()) {
      if (resourceNumber !== envelope.resourceNumber) {
        resourceNumber = envelope.resourceNumber;
        resource = this.#resourceAt(bytes, envelope.resourceStart, envelope.resourceEnd);
      }
      this.#span(bytes, resource, sink);
    }
    return undefined;
  }

  #span(bytes: Buffer, resource: Resource, sink: TraceSpanSink): void {
    const { start, end } = this.#envelope;
    const lean = this.#leanSpan(bytes, start, end, resource);
    if (lean !== undefined) {
      sink.span(this.#traceId, lean);
      return;
    }
    const { attributes } = resource;
    const span =
      typeof attributes === 'string' ? attributes : otlpSpan(bytes, start, end, attributes);
    if (typeof span === 'string') sink.malformed(span, this.#origin(bytes));
    else if (span.traceId === '') {
      sink.malformed('A span must have a trace id, and has none.', this.#origin(bytes));
    } else sink.span(span.traceId, traceSpanOf(span, this.#rules));
  }

  #origin(bytes: Buffer) {
    const { start, end, resourceStart, resourceEnd, scopeStart, scopeEnd } = this.#envelope;
    const resource = { start: resourceStart, end: resourceEnd };
    const scope = { start: scopeStart, end: scopeEnd };
    return { bytes: () => requestOfSpan(bytes, resource, scope, { start, end }) };
  }

  /** Reads a span of which little is needed, and its trace id; undefined where it may be a root, or is odd. */
  #leanSpan(bytes: Buffer, start: number, end: number, resource: Resource): TraceSpan | undefined {
    const { stagesFrom, rootNames } = this.#rules;
    if (stagesFrom === 'triton' || typeof resource.attributes === 'string') return undefined;
    const reader = this.#reader;
    reader.begin(bytes, start, end);
    reader.fault.clear();
    let [traceAt, spanAt, parentAt, nameAt, nameEnd] = [-1, -1, -1, -1, -1];
    let [startLow, startHigh, endLow, endHigh] = [0, 0, 0, 0];
    while (reader.next()) {
      const { wireType } = reader;
      switch (reader.field) {
        case 1:
          if (wireType !== wireTypes.bytes || reader.end - reader.start !== TRACE_ID_BYTES) return;
          traceAt = reader.start;
          break;
        case 2:
          if (wireType !== wireTypes.bytes || reader.end - reader.start !== SPAN_ID_BYTES) return;
          spanAt = reader.start;
          break;
        case 4:
          if (wireType !== wireTypes.bytes || reader.end - reader.start !== SPAN_ID_BYTES) return;
          parentAt = reader.start;
          break;
        case 5:
          if (wireType !== wireTypes.bytes) return;
          nameAt = reader.start;
          nameEnd = reader.end;
          break;
        case 6:
          if (wireType !== wireTypes.varint) return;
          break;
        case 7:
          if (wireType !== wireTypes.fixed64) return;
          startLow = reader.low;
          startHigh = reader.high;
          break;
        case 8:
          if (wireType !== wireTypes.fixed64) return;
          endLow = reader.low;
          endHigh = reader.high;
          break;
        case 9:
        case 11:
        case 15:
          if (wireType !== wireTypes.bytes) return;
          break;
        default:
      }
    }
    if (reader.fault.text !== '' || traceAt < 0 || spanAt < 0 || parentAt < 0 || nameAt < 0) return;
    if ((startLow | startHigh) === 0 || (endLow | endHigh) === 0) return;
    if (isZero(bytes, parentAt) || isZero(bytes, spanAt)) return;
    const name = this.#nameAt(bytes, nameAt, nameEnd);
    if (rootNames.size > 0 && rootNames.has(name)) return;
    if (!this.#readTraceId(bytes, traceAt)) return;
    const { service } = resource;
    // A literal without spreads: most of the objects of an assembler are made here.
    return {
      idHigh: bytes.readInt32BE(spanAt),
      idLow: bytes.readInt32BE(spanAt + 4),
      parentHigh: bytes.readInt32BE(parentAt),
      parentLow: bytes.readInt32BE(parentAt + 4),
      name,
      service,
      isShared: false,
      endIsSet: true,
      durationMs: msBetween(startLow, startHigh, endLow, endHigh),
      fields: undefined,
      full: undefined,
      bytes: SPAN_BYTES + 2 * (name.length + service.length),
    };
  }

  /** Most spans are of the trace of the span before. Returns false for an id of zero. */
  #readTraceId(bytes: Buffer, at: number): boolean {
    const [a, b] = [bytes.readInt32LE(at), bytes.readInt32LE(at + 4)];
    const [c, d] = [bytes.readInt32LE(at + 8), bytes.readInt32LE(at + 12)];
    const known = this.#traceIdParts;
    if (a === known[0] && b === known[1] && c === known[2] && d === known[3]) {
      return this.#traceId !== '';
    }
    known[0] = a;
    known[1] = b;
    known[2] = c;
    known[3] = d;
    this.#traceId = (a | b | c | d) === 0 ? '' : hexOf(bytes, at, TRACE_ID_BYTES);
    return this.#traceId !== '';
  }

  #nameAt(bytes: Buffer, start: number, end: number): string {
    const length = end - start;
    let hash = length;
    for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (bytes[at] as number)) | 0;
    const slot = hash & (NAME_SLOTS - 1);
    const known = this.#names[slot];
    if (
      known !== undefined &&
      known.bytes.length === length &&
      areEqual(known.bytes, bytes, start)
    ) {
      return known.text;
    }
    const text = bytes.toString('utf8', start, end);
    if (length <= KEPT_BYTES) {
      this.#names[slot] = { bytes: Uint8Array.from(bytes.subarray(start, end)), text };
    }
    return text;
  }

  #resourceAt(bytes: Buffer, start: number, end: number): Resource {
    const key = end - start > KEPT_BYTES ? undefined : bytes.toString('latin1', start, end);
    const known = key === undefined ? undefined : this.#resources.get(key);
    if (known !== undefined) return known;
    const attributes = otlpResource(bytes, start, end);
    const service =
      typeof attributes === 'string' ? '' : (textFrom(attributes, 'service.name') ?? '');
    const resource = { attributes, service };
    if (key !== undefined) {
      if (this.#resources.size >= KEPT) this.#resources.clear();
      this.#resources.set(key, resource);
    }
    return resource;
  }
}

/** Buffer's own method, which `toString` calls after many checks. */
interface HexSlice {
  hexSlice(start: number, end: number): string;
}

function hexOf(bytes: Buffer, at: number, length: number): string {
  return (bytes as Buffer & HexSlice).hexSlice(at, at + length);
}

function areEqual(known: Uint8Array, bytes: Uint8Array, start: number): boolean {
  for (let i = 0; i < known.length; i++) if (known[i] !== bytes[start + i]) return false;
  return true;
}

/** Whether eight bytes are zero, as of an id that is none. */
function isZero(bytes: Buffer, at: number): boolean {
  return bytes.readInt32LE(at) === 0 && bytes.readInt32LE(at + 4) === 0;
}

/** Returns the milliseconds from one time in nanoseconds to another, exact to a nanosecond. */
function msBetween(fromLow: number, fromHigh: number, toLow: number, toHigh: number): number {
  const high = (toHigh >>> 0) - (fromHigh >>> 0);
  const ns = high * 0x1_0000_0000 + ((toLow >>> 0) - (fromLow >>> 0));
  return ns / 1e6;
}
