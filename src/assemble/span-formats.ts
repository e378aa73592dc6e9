import type { RejectReason } from '../decode/reject-reasons.ts';
import { readJaegerJson } from '../formats/spans/jaeger-json.ts';
import { readJaegerProto } from '../formats/spans/jaeger-proto.ts';
import { readOtlpJson } from '../formats/spans/otlp-json.ts';
import type { SpanSink } from '../formats/spans/span-reader.ts';
import { readZipkinJson } from '../formats/spans/zipkin-json.ts';
import { OtlpTraceReader } from './event/otlp-trace-reader.ts';
import type { TraceRules } from './event/trace-rules.ts';
import { traceSpanOf } from './event/trace-span-of.ts';
import type { TraceSpanSink } from './event/trace-span-sink.ts';

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

/** How the records of a format get their trace id as key: Jaeger's have it from the collector and from Jaeger. */
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
  otlp_json: (message, sink) => readOtlpJson(message.toString('utf8'), sink),
  jaeger_proto: readJaegerProto,
  jaeger_json: (message, sink) => readJaegerJson(message.toString('utf8'), sink),
  zipkin_json: (message, sink) => readZipkinJson(message.toString('utf8'), sink),
};

/** Returns a reader of a format, for one partition. */
export function traceReader(format: SpanFormat, rules: TraceRules): TraceReader {
  if (format !== 'otlp_proto') return keepingReader(general[format], rules);
  const reader = new OtlpTraceReader(rules);
  return (message, sink) => reader.read(message, sink);
}

/** Returns a reader that keeps of spans what their trace needs. */
export function keepingReader(read: MessageReader, rules: TraceRules): TraceReader {
  return (message, sink) =>
    read(message, {
      span: (span, origin) => {
        if (span.traceId !== '') sink.span(span.traceId, traceSpanOf(span, rules));
        else sink.malformed('A span must have a trace id, and has none.', origin);
      },
      malformed: (detail, origin) => sink.malformed(detail, origin),
    });
}
