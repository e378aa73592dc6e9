import type { Span } from '../../../src/formats/span.ts';
import { readOtlpJson } from '../../../src/formats/spans/otlp-json.ts';
import { requestType } from './definition.ts';

/** The request as OTLP JSON has it, by protobufjs: the ids in hex, long numbers as texts. */
export function jsonOf(request: Buffer): string {
  const object = requestType.toObject(requestType.decode(request), { longs: String });
  return JSON.stringify(object, function (this: Record<string, unknown>, key, value) {
    const raw = this[key];
    return raw instanceof Uint8Array ? Buffer.from(raw).toString('hex') : value;
  });
}

/** The spans of a request as protobufjs and the reader of OTLP JSON give them. */
export function oracleSpans(request: Buffer): Span[] {
  const spans: Span[] = [];
  const problem = readOtlpJson(jsonOf(request), {
    span: (span) => spans.push(span),
    malformed: (detail) => {
      throw new Error(detail);
    },
  });
  if (problem !== undefined) throw new Error(problem);
  return spans;
}

/** The request of OTLP JSON as protobuf, by protobufjs: its fields ascending. */
export function protoOf(json: string): Buffer {
  const object = JSON.parse(json, (key, value) =>
    /^(traceId|spanId|parentSpanId)$/.test(key) ? Buffer.from(value, 'hex') : value,
  );
  return Buffer.from(requestType.encode(requestType.fromObject(object)).finish());
}
