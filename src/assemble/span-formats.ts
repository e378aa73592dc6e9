import { bracketsExcess } from '../formats/json-brackets.ts';
import { readJaegerJson } from '../formats/spans/jaeger-json.ts';
import { readJaegerProto } from '../formats/spans/jaeger-proto.ts';
import { readOtlpJson } from '../formats/spans/otlp-json.ts';
import type { SpanReader, SpanSink } from '../formats/spans/span-reader.ts';
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
      malformed: (detail, origin, reason) => sink.malformed(detail, origin, reason),
    });
}
