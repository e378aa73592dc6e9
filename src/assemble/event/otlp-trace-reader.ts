import { limits } from '../../base/limits.ts';
import { MessageView } from '../../formats/otlp/message-view.ts';
import { plainBytesEnd } from '../../formats/otlp/plain-bytes.ts';
import { type Attributes, isEntry, parentIsRemoteBy } from '../../formats/span.ts';
import { OtlpEnvelope, requestOfSpan } from '../../formats/spans/otlp-envelope.ts';
import { otlpResource, otlpSpan } from '../../formats/spans/otlp-proto.ts';
import { textFrom } from '../../formats/spans/span-events.ts';
import type { SpanFault } from '../../formats/spans/span-reader.ts';
import { ReusedSpan } from '../trace.ts';
import { BytesCache } from './bytes-cache.ts';
import { OtlpRootReader } from './otlp-root-reader.ts';
import type { TraceRules } from './trace-rules.ts';
import { bytesOfFields, SPAN_BYTES, traceSpanOf } from './trace-span-of.ts';
import type { TraceSpanSink } from './trace-span-sink.ts';

/** Bytes of a trace's id, and of a span's. */
const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;
const NOT_FOUND = -1;
/** 2^50 ns. A longer duration is rounded in one way only, that of `otlpSpan`. */
const MOST_EXACT_MS = 2 ** 50 / 1e6;

interface Resource {
  readonly attributes: Attributes | SpanFault;
  readonly service: string;
}

/**
 * Reads the spans of OTLP protobuf as open traces keep them, the same as `readOtlpProto` and `traceSpanOf`
 * give. Of a span that is no root it reads five fields and no attributes, and of a root what rules ask for,
 * nearly without allocation: that is most of the time of an assembler.
 */
export class OtlpTraceReader {
  readonly #rules: TraceRules;
  readonly #envelope = new OtlpEnvelope(limits.eventsPerMessage + 1);
  readonly #message = new MessageView();
  readonly #texts = new BytesCache((bytes, start, end) => bytes.toString('utf8', start, end));
  readonly #roots: OtlpRootReader;
  readonly #resources = new BytesCache(resourceOf);
  readonly #span = new ReusedSpan();
  /** The last trace id, by four integers and as text. */
  readonly #traceIdParts = new Int32Array(TRACE_ID_BYTES / 4);
  #traceId = '';
  /** Places of the span's fields. */
  #traceAt = NOT_FOUND;
  #spanAt = NOT_FOUND;
  #parentAt = NOT_FOUND;
  #nameAt = NOT_FOUND;
  #nameEnd = NOT_FOUND;
  #startAt = NOT_FOUND;
  #endAt = NOT_FOUND;
  #kind = 0;
  /** The second byte of the flags, which says where the parent is; 0 for the others. */
  #flags = 0;

  constructor(rules: TraceRules) {
    this.#rules = rules;
    this.#roots = new OtlpRootReader(rules.fields, this.#message, this.#texts);
  }

  /** Reads a message. @returns what is wrong with it as a whole */
  read(bytes: Buffer, sink: TraceSpanSink): string | undefined {
    const envelope = this.#envelope;
    envelope.begin(bytes);
    if (envelope.problem !== undefined) return envelope.problem;
    this.#message.begin(bytes);
    let resourceNumber = -1;
    let resource: Resource = { attributes: new Map(), service: '' };
    while (envelope.next()) {
      if (resourceNumber !== envelope.resourceNumber) {
        resourceNumber = envelope.resourceNumber;
        const { resourceStart, resourceEnd } = envelope;
        resource = this.#resources.get(this.#message, bytes, resourceStart, resourceEnd);
      }
      if (this.#readPlain(bytes, envelope.start, envelope.end, resource)) {
        sink.span(this.#traceId, this.#span);
      } else this.#readAny(bytes, resource, sink);
    }
    return undefined;
  }

  #readAny(bytes: Buffer, { attributes }: Resource, sink: TraceSpanSink): void {
    const { start, end } = this.#envelope;
    const span = 'detail' in attributes ? attributes : otlpSpan(bytes, start, end, attributes);
    if ('detail' in span) sink.malformed(span.detail, this.#origin(bytes), span.reason);
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

  /** Reads a span as writers write it, and its trace id. Returns false for any other. */
  #readPlain(bytes: Buffer, start: number, end: number, resource: Resource): boolean {
    const { stagesFrom, rootNames } = this.#rules;
    const { attributes, service } = resource;
    if (stagesFrom === 'triton' || 'detail' in attributes) return false;
    if (!this.#find(bytes, start, end) || !this.#readTraceId(bytes)) return false;
    const { view, base } = this.#message;
    const span = this.#span;
    span.idHigh = view.getInt32(base + this.#spanAt, false);
    span.idLow = view.getInt32(base + this.#spanAt + 4, false);
    if ((span.idHigh | span.idLow) === 0) return false;
    const hasParent = this.#parentAt !== NOT_FOUND;
    span.parentHigh = hasParent ? view.getInt32(base + this.#parentAt, false) : 0;
    span.parentLow = hasParent ? view.getInt32(base + this.#parentAt + 4, false) : 0;
    span.name = this.#texts.get(this.#message, bytes, this.#nameAt, this.#nameEnd);
    span.service = service;
    span.bytes = SPAN_BYTES + 2 * (span.name.length + service.length);
    const isTop =
      (span.parentHigh | span.parentLow) === 0 ||
      isEntry(this.#kind, parentIsRemoteBy(this.#flags));
    if (isTop || rootNames.has(span.name)) {
      const fields = this.#roots.read(bytes, start, end, this.#traceId, attributes);
      if (fields === undefined) return false;
      span.fields = fields;
      span.endIsSet = this.#roots.endIsSet;
      span.durationMs = this.#roots.durationMs;
      span.bytes += bytesOfFields(fields);
      return true;
    }
    const startLow = view.getInt32(base + this.#startAt, true);
    const startHigh = view.getInt32(base + this.#startAt + 4, true);
    const endLow = view.getInt32(base + this.#endAt, true);
    const endHigh = view.getInt32(base + this.#endAt + 4, true);
    if ((startLow | startHigh) === 0 || (endLow | endHigh) === 0) return false;
    span.fields = undefined;
    span.endIsSet = true;
    const durationMs = msBetween(startLow, startHigh, endLow, endHigh);
    span.durationMs = durationMs;
    return Math.abs(durationMs) <= MOST_EXACT_MS;
  }

  /** Finds the fields of a span that are needed; false where it is unlike what writers write. */
  #find(bytes: Buffer, start: number, end: number): boolean {
    let [traceAt, spanAt, parentAt] = [NOT_FOUND, NOT_FOUND, NOT_FOUND];
    let [nameAt, nameEnd, startAt, endAt] = [NOT_FOUND, NOT_FOUND, NOT_FOUND, NOT_FOUND];
    let [kind, flags] = [0, 0];
    let pos = start;
    while (pos < end) {
      switch (bytes[pos++]) {
        // The ids.
        case 0x0a:
          if (bytes[pos] !== TRACE_ID_BYTES) return false;
          traceAt = pos + 1;
          pos = traceAt + TRACE_ID_BYTES;
          break;
        case 0x12:
          if (bytes[pos] !== SPAN_ID_BYTES) return false;
          spanAt = pos + 1;
          pos = spanAt + SPAN_ID_BYTES;
          break;
        case 0x22:
          if (bytes[pos] !== SPAN_ID_BYTES && bytes[pos] !== 0) return false;
          parentAt = bytes[pos] === 0 ? NOT_FOUND : pos + 1;
          pos += 1 + (bytes[pos] as number);
          break;
        // The name.
        case 0x2a:
          if ((bytes[pos] as number) >= 0x80) return false;
          nameAt = pos + 1;
          nameEnd = nameAt + (bytes[pos] as number);
          pos = nameEnd;
          break;
        case 0x30:
          kind = bytes[pos++] as number;
          if (kind >= 0x80) return false;
          break;
        // The counts of what was dropped.
        case 0x50:
        case 0x60:
        case 0x70:
          if ((bytes[pos++] as number) >= 0x80) return false;
          break;
        // Start and end.
        case 0x39:
          startAt = pos;
          pos += 8;
          break;
        case 0x41:
          endAt = pos;
          pos += 8;
          break;
        // Trace state, attributes, events, links and status.
        case 0x1a:
        case 0x4a:
        case 0x5a:
        case 0x6a:
        case 0x7a:
          pos = plainBytesEnd(bytes, pos);
          if (pos < 0) return false;
          break;
        // Flags, of field 16.
        case 0x85:
          if (bytes[pos] !== 1) return false;
          flags = (bytes[pos + 2] as number) << 8;
          pos += 5;
          break;
        default:
          return false;
      }
    }
    this.#traceAt = traceAt;
    this.#spanAt = spanAt;
    this.#parentAt = parentAt;
    this.#nameAt = nameAt;
    this.#nameEnd = nameEnd;
    this.#startAt = startAt;
    this.#endAt = endAt;
    this.#kind = kind;
    this.#flags = flags;
    const hasAll = traceAt >= 0 && spanAt >= 0 && nameAt >= 0 && startAt >= 0 && endAt >= 0;
    return pos === end && hasAll;
  }

  /** Reads the id of the trace, which is mostly that of the span before. Returns false for an id of zero. */
  #readTraceId(bytes: Buffer): boolean {
    const { view, base } = this.#message;
    const at = base + this.#traceAt;
    const a = view.getInt32(at, true);
    const b = view.getInt32(at + 4, true);
    const c = view.getInt32(at + 8, true);
    const d = view.getInt32(at + 12, true);
    const known = this.#traceIdParts;
    if (a !== known[0] || b !== known[1] || c !== known[2] || d !== known[3]) {
      known[0] = a;
      known[1] = b;
      known[2] = c;
      known[3] = d;
      this.#traceId = (a | b | c | d) === 0 ? '' : hexOf(bytes, this.#traceAt, TRACE_ID_BYTES);
    }
    return this.#traceId !== '';
  }
}

function resourceOf(bytes: Buffer, start: number, end: number): Resource {
  const attributes = otlpResource(bytes, start, end);
  const service = 'detail' in attributes ? '' : (textFrom(attributes, 'service.name') ?? '');
  return { attributes, service };
}

/** Buffer's own method, which `toString` calls after many checks. */
interface HexSlice {
  hexSlice(start: number, end: number): string;
}

function hexOf(bytes: Buffer, at: number, length: number): string {
  return (bytes as Buffer & HexSlice).hexSlice(at, at + length);
}

/** Returns the milliseconds from one time in nanoseconds to another, exact to a nanosecond. */
function msBetween(fromLow: number, fromHigh: number, toLow: number, toHigh: number): number {
  const high = (toHigh >>> 0) - (fromHigh >>> 0);
  const ns = high * 0x1_0000_0000 + ((toLow >>> 0) - (fromLow >>> 0));
  return ns / 1e6;
}
