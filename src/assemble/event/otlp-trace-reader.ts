import { limits } from '../../base/limits.ts';
import { BytesCache } from '../../formats/otlp/bytes-cache.ts';
import { MessageView } from '../../formats/otlp/message-view.ts';
import { OtlpSpanReader } from '../../formats/otlp/otlp-span-reader.ts';
import { Resource } from '../../formats/otlp/resources.ts';
import { type Attributes, isEntry, parentIsRemoteBy } from '../../formats/span.ts';
import { OtlpEnvelope, requestOfSpan } from '../../formats/spans/otlp-envelope.ts';
import { orAbsent, SourceValues } from '../../formats/spans/source-values.ts';
import { FieldReader } from '../../formats/spans/span-fields.ts';
import type { SpanFault } from '../../formats/spans/span-reader.ts';
import { textFrom } from '../../formats/spans/span-values.ts';
import { idHalves } from '../../formats/spans/trace/ids.ts';
import { ReusedSpan } from '../trace.ts';
import type { TraceRules } from './trace-rules.ts';
import { bytesOfFields, SPAN_BYTES, traceSpanOf } from './trace-span-of.ts';
import type { TraceSpanSink } from './trace-span-sink.ts';

const TRACE_ID_BYTES = 16;

/** A resource with the name of its service. */
class ServiceResource extends Resource {
  readonly service: string;

  constructor(attributes: Attributes | SpanFault, keys: readonly string[]) {
    super(attributes, keys);
    this.service = 'detail' in attributes ? '' : (textFrom(attributes, 'service.name') ?? '');
  }
}

/**
 * Reads the spans of OTLP protobuf as open traces keep them, the same as `traceSpanOf` gives. Of a span that is
 * no root it reads five fields and no attributes, and of a root what rules ask for, nearly without allocation:
 * that is most of the time of an assembler.
 */
export class OtlpTraceReader {
  readonly #rules: TraceRules;
  readonly #envelope = new OtlpEnvelope(limits.eventsPerMessage + 1);
  readonly #message = new MessageView();
  readonly #texts = new BytesCache((start, end) =>
    this.#message.bytes.toString('utf8', start, end),
  );
  readonly #fields: FieldReader;
  readonly #reader: OtlpSpanReader;
  readonly #sources: SourceValues;
  readonly #resources: BytesCache<ServiceResource>;
  readonly #kept = new ReusedSpan();
  /** The last trace id of 16 bytes, by four integers and as text. */
  readonly #traceIdParts = new Int32Array(TRACE_ID_BYTES / 4);
  #plainTraceId = '';
  #traceId = '';

  constructor(rules: TraceRules) {
    this.#rules = rules;
    this.#fields = new FieldReader(rules.fields);
    const { names } = this.#fields;
    this.#reader = new OtlpSpanReader(this.#message, names, this.#texts);
    this.#sources = new SourceValues(names, this.#reader.span);
    this.#resources = new BytesCache(
      (start, end) =>
        new ServiceResource(this.#reader.readResource(start, end), names.resourceKeys),
    );
  }

  /** Reads a message. @returns what is wrong with it as a whole */
  read(bytes: Buffer, sink: TraceSpanSink): string | undefined {
    const envelope = this.#envelope;
    envelope.begin(bytes);
    if (envelope.problem !== undefined) return envelope.problem;
    this.#message.begin(bytes);
    let resourceNumber = -1;
    let resource: ServiceResource | undefined;
    while (envelope.next()) {
      if (resource === undefined || resourceNumber !== envelope.resourceNumber) {
        resourceNumber = envelope.resourceNumber;
        const { resourceStart, resourceEnd } = envelope;
        resource = this.#resources.get(this.#message, resourceStart, resourceEnd);
      }
      const fault = this.#read(resource, sink);
      if (fault !== undefined) sink.malformed(fault.detail, this.#origin(bytes), fault.reason);
    }
    return undefined;
  }

  #origin(bytes: Buffer) {
    const { start, end, resourceStart, resourceEnd, scopeStart, scopeEnd } = this.#envelope;
    const resource = { start: resourceStart, end: resourceEnd };
    const scope = { start: scopeStart, end: scopeEnd };
    return { bytes: () => requestOfSpan(bytes, resource, scope, { start, end }) };
  }

  /** Reads the envelope's span and hands it on, or returns why it is none. */
  #read(resource: ServiceResource, sink: TraceSpanSink): SpanFault | undefined {
    const { start, end } = this.#envelope;
    const { attributes, service, values } = resource;
    const reader = this.#reader;
    const { span } = reader;
    const kept = this.#kept;
    if ('detail' in attributes) return attributes;
    if (this.#rules.stagesFrom === 'triton') return this.#readWhole(attributes, sink);
    if (!reader.readHead(start, end)) {
      // Something before may be wrong too.
      reader.read(start, end);
      return reader.fault;
    }
    this.#setIds();
    kept.name = span.name;
    kept.service = service;
    kept.bytes = SPAN_BYTES + 2 * (kept.name.length + service.length);
    kept.fields = undefined;
    const isTop =
      (kept.parentHigh | kept.parentLow) === 0 ||
      isEntry(span.kind, parentIsRemoteBy(span.flags)) ||
      this.#rules.rootNames.has(kept.name);
    // Of a span without a trace id it is said first what else is wrong.
    if ((isTop || this.#traceId === '') && !reader.read(start, end)) return reader.fault;
    if (this.#traceId === '') return noTraceId;
    if (isTop) {
      span.resource = values;
      kept.fields = this.#fields.read(span, this.#sources, this.#traceId);
      kept.bytes += bytesOfFields(kept.fields);
    }
    kept.endIsSet = span.endIsSet;
    kept.durationMs = orAbsent(span.durationMs);
    sink.span(this.#traceId, kept);
    return undefined;
  }

  #readWhole(resource: Attributes, sink: TraceSpanSink): SpanFault | undefined {
    const { start, end } = this.#envelope;
    const span = this.#reader.readWhole(start, end, resource);
    if ('detail' in span) return span;
    if (span.traceId === '') return noTraceId;
    sink.span(span.traceId, traceSpanOf(span, this.#rules));
    return undefined;
  }

  #setIds(): void {
    const { span } = this.#reader;
    const kept = this.#kept;
    if (!span.areIdsPlain) {
      const [id, parent] = [idHalves(span.spanId), idHalves(span.parentSpanId)];
      [kept.idHigh, kept.idLow] = [id.high, id.low];
      [kept.parentHigh, kept.parentLow] = [parent.high, parent.low];
      this.#traceId = span.traceId;
      return;
    }
    const { view, base } = this.#message;
    const { spanAt, parentAt } = span;
    kept.idHigh = spanAt < 0 ? 0 : view.getInt32(base + spanAt, false);
    kept.idLow = spanAt < 0 ? 0 : view.getInt32(base + spanAt + 4, false);
    kept.parentHigh = parentAt < 0 ? 0 : view.getInt32(base + parentAt, false);
    kept.parentLow = parentAt < 0 ? 0 : view.getInt32(base + parentAt + 4, false);
    this.#traceId = span.traceAt < 0 ? '' : this.#traceIdAt(span.traceAt);
  }

  /** Returns the id of the trace, which is mostly that of the span before. */
  #traceIdAt(at: number): string {
    const { view } = this.#message;
    const from = this.#message.base + at;
    const a = view.getInt32(from, true);
    const b = view.getInt32(from + 4, true);
    const c = view.getInt32(from + 8, true);
    const d = view.getInt32(from + 12, true);
    const known = this.#traceIdParts;
    if (a !== known[0] || b !== known[1] || c !== known[2] || d !== known[3]) {
      known[0] = a;
      known[1] = b;
      known[2] = c;
      known[3] = d;
      this.#plainTraceId = this.#reader.span.traceId;
    }
    return this.#plainTraceId;
  }
}

const noTraceId: SpanFault = { detail: 'A span must have a trace id, and has none.' };
