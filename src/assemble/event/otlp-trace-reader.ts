import { limits } from '../../base/limits.ts';
import { BytesCache } from '../../formats/otlp/bytes-cache.ts';
import { MessageView } from '../../formats/otlp/message-view.ts';
import { OtlpSpanReader } from '../../formats/otlp/otlp-span-reader.ts';
import { Resource } from '../../formats/otlp/resources.ts';
import { type Attributes, isEntry, parentIsRemoteBy } from '../../formats/span.ts';
import { OtlpEnvelope, requestOfSpan } from '../../formats/spans/otlp-envelope.ts';
import { orAbsent, SourceValues } from '../../formats/spans/rules/source-values.ts';
import { FieldReader } from '../../formats/spans/rules/span-fields.ts';
import { textFrom } from '../../formats/spans/rules/span-values.ts';
import type { SpanFault } from '../../formats/spans/span-reader.ts';
import { ReusedSpan } from '../trace.ts';
import type { TraceRules } from './trace-rules.ts';
import { bytesOfFields, SPAN_BYTES, traceSpanOf } from './trace-span-of.ts';
import type { TraceSpanSink } from './trace-span-sink.ts';

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
  /** The last trace id, by four integers and the number of its bytes, and as text. */
  readonly #traceNumbers = new Int32Array(4);
  #traceBytes = 0;
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
    if (!reader.readHead(start, end)) return reader.fault;
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
    const { durationMs } = span;
    kept.durationMs = orAbsent(durationMs);
    kept.endIsSet = durationMs >= 0 || span.endIsSet;
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
    const ids = span.ids();
    kept.idHigh = ids[4] as number;
    kept.idLow = ids[5] as number;
    kept.parentHigh = ids[6] as number;
    kept.parentLow = ids[7] as number;
    // The trace is mostly that of the span before.
    const last = this.#traceNumbers;
    const length = span.traceEnd - span.traceStart;
    const isLast =
      ids[0] === last[0] &&
      ids[1] === last[1] &&
      ids[2] === last[2] &&
      ids[3] === last[3] &&
      length === this.#traceBytes;
    if (isLast) return;
    for (let i = 0; i < last.length; i++) last[i] = ids[i] as number;
    this.#traceBytes = length;
    this.#traceId = span.traceId;
  }
}

const noTraceId: SpanFault = { detail: 'A span must have a trace id, and has none.' };
