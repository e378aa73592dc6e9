import { readJaegerJson } from '../formats/spans/jaeger-json.ts';
import { readJaegerProto } from '../formats/spans/jaeger-proto.ts';
import { readOtlpJson } from '../formats/spans/otlp-json.ts';
import { readOtlpProto } from '../formats/spans/otlp-proto.ts';
import type { SpanReader, SpanSink } from '../formats/spans/span-reader.ts';
import { readZipkinJson } from '../formats/spans/zipkin-json.ts';

/** Formats of topics whose spans can be assembled. */
const spanFormats = [
  'otlp_proto',
  'otlp_json',
  'jaeger_proto',
  'jaeger_json',
  'zipkin_json',
] as const;
export type SpanFormat = (typeof spanFormats)[number];

/**
 * Reads the spans of one message. Content never makes it throw. What it gives is used at once: the message may
 * be overwritten afterwards.
 *
 * @returns what is wrong with the message as a whole, if it cannot be read.
 */
export type MessageReader = (message: Buffer, sink: SpanSink) => string | undefined;

const ofText =
  (read: SpanReader): MessageReader =>
  (message, sink) =>
    read(message.toString('utf8'), sink);

export const messageReaders: Readonly<Record<SpanFormat, MessageReader>> = {
  otlp_proto: readOtlpProto,
  otlp_json: ofText(readOtlpJson),
  jaeger_proto: readJaegerProto,
  jaeger_json: ofText(readJaegerJson),
  zipkin_json: ofText(readZipkinJson),
};
