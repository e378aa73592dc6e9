import type { RejectReason } from '../../decode/reject-reasons.ts';
import type { Origin } from '../../formats/format-reader.ts';
import { bracketsExcess } from '../../formats/json-brackets.ts';
import { readJaegerJson } from '../../formats/spans/jaeger-json.ts';
import { readJaegerProto } from '../../formats/spans/jaeger-proto.ts';
import { readOtlpJson } from '../../formats/spans/otlp-json.ts';
import {
  excessOfMessage,
  type SpanReader,
  type SpanSink,
} from '../../formats/spans/span-reader.ts';
import { readZipkinJson } from '../../formats/spans/zipkin-json.ts';
import type { TraceSpan } from '../trace.ts';
import { OtlpTraceReader } from './otlp-trace-reader.ts';
import type { TraceRules } from './trace-rules.ts';
import { traceSpanOf } from './trace-span-of.ts';
import type { TraceSpanSink } from './trace-span-sink.ts';

/** Formats of topics whose spans can be assembled. */
export type SpanFormat =
  | 'otlp_proto'
  | 'otlp_json'
  | 'jaeger_proto'
  | 'jaeger_json'
  | 'zipkin_json';

/** Reason of bytes that are not of the format. */
export const unreadableAs: Readonly<Record<SpanFormat, RejectReason>> = {
  otlp_proto: 'invalid_protobuf',
  otlp_json: 'invalid_json',
  jaeger_proto: 'invalid_protobuf',
  jaeger_json: 'invalid_json',
  zipkin_json: 'invalid_json',
};

/** Advice for keying records of a format by trace id: for Jaeger's, the collector and Jaeger do it. */
export function keyAdvice(format: SpanFormat): string {
  return format === 'jaeger_proto' || format === 'jaeger_json'
    ? "let their producer use the trace id as key, as the collector's Kafka exporter and Jaeger do"
    : "set partition_traces_by_id: true in the collector's Kafka exporter, let another producer use the trace id as key, or give the topic one partition";
}

/** Reads the spans of one message as spans of any rule. @returns what is wrong with the message as a whole */
export type MessageReader = (message: Buffer, sink: SpanSink) => string | undefined;

/**
 * Reads the spans of one message as open traces keep them. Content never makes it throw, and the message may be
 * overwritten afterwards.
 *
 * @returns what is wrong with the message as a whole, if it cannot be read.
 */
export type TraceReader = (message: Buffer, sink: TraceSpanSink) => string | undefined;

const general: Readonly<Record<Exclude<SpanFormat, 'otlp_proto'>, MessageReader>> = {
  otlp_json: ofJson(readOtlpJson),
  jaeger_proto: readJaegerProto,
  jaeger_json: ofJson(readJaegerJson),
  zipkin_json: ofJson(readZipkinJson),
};

/** Returns the reader of a format in JSON, of whose messages only those within their limits are parsed. */
function ofJson(read: SpanReader): MessageReader {
  return (message, sink) => {
    const excess = bracketsExcess(message);
    if (excess === undefined) return read(message.toString('utf8'), sink);
    sink.malformed(excess.detail, { bytes: () => message }, excess.reason);
    return undefined;
  };
}

/** Returns a reader of a format, for one partition. Beyond the limits of a message its rest is one rejection. */
export function traceReader(format: SpanFormat, rules: TraceRules): TraceReader {
  if (format === 'otlp_proto') {
    const reader = new OtlpTraceReader(rules);
    return (message, sink) => reader.read(message, new BoundedSink(message, sink));
  }
  const read = keepingReader(general[format], rules);
  return (message, sink) => read(message, new BoundedSink(message, sink));
}

/** Hands on as many spans of a message as one may hold, and as many that are none. */
class BoundedSink implements TraceSpanSink {
  readonly #origin: Origin;
  readonly #sink: TraceSpanSink;
  #count = 0;
  #malformed = 0;
  #isOver = false;

  constructor(message: Buffer, sink: TraceSpanSink) {
    this.#origin = { bytes: () => message };
    this.#sink = sink;
  }

  span(traceId: string, span: TraceSpan): void {
    if (this.#isWithin()) this.#sink.span(traceId, span);
  }

  malformed(detail: string, origin: Origin, reason?: RejectReason): void {
    if (!this.#isWithin()) return;
    this.#malformed++;
    this.#sink.malformed(detail, origin, reason);
  }

  #isWithin(): boolean {
    if (this.#isOver) return false;
    const excess = excessOfMessage(this.#count++, this.#malformed);
    if (excess === undefined) return true;
    this.#isOver = true;
    this.#sink.malformed(excess, this.#origin, 'too_many_events');
    return false;
  }
}

/** Returns a reader that keeps of spans what their trace needs. */
export function keepingReader(read: MessageReader, rules: TraceRules): TraceReader {
  return (message, sink) =>
    read(message, {
      span: (span, origin) => {
        if (span.traceId !== '') sink.span(span.traceId, traceSpanOf(span, rules));
        else sink.malformed('A span must have a trace id, and has none.', origin);
      },
      malformed: (detail, origin, reason) => sink.malformed(detail, origin, reason),
    });
}
