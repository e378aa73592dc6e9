import { deepStrictEqual } from 'node:assert';
import { gunzipSync } from 'node:zlib';
import {
  keepingReader,
  type SpanFormat,
  type TraceReader,
  traceReader,
} from '../../src/assemble/event/span-formats.ts';
import { childrenRules, tritonRules } from '../../src/assemble/event/trace-rules.ts';
import { hasParent, type TraceSpan } from '../../src/assemble/trace.ts';
import { readOtlpProto } from '../formats/otlp/read-otlp-proto.ts';
import { fixture } from '../formats/records/decode-records.ts';
import { messageText } from './checked-decode.ts';
import { fastestMs } from './fastest-ms.ts';
import type { FuzzMessages } from './fuzz-messages.ts';

const WHOLE_SHARE = 0.1;
/** Messages of OTLP protobuf that are held against the general reader. */
const GENERAL_SHARE = 0.1;
/** Recorded messages of a format that are mutated. */
const BASES = 200;

const files: Readonly<Record<SpanFormat, string>> = {
  otlp_proto: 'otlp_spans.jsonl',
  otlp_json: 'otlp_spans_json.jsonl.gz',
  jaeger_proto: 'jaeger_spans.jsonl.gz',
  jaeger_json: 'jaeger_spans_json.jsonl.gz',
  zipkin_json: 'zipkin_spans_json.jsonl.gz',
};
const formats = Object.keys(files) as SpanFormat[];
const corpora = new Map<SpanFormat, readonly Buffer[]>();

function corpusOf(format: SpanFormat): readonly Buffer[] {
  let corpus = corpora.get(format);
  if (corpus === undefined) {
    corpus = recordedValues(files[format]).slice(0, BASES);
    corpora.set(format, corpus);
  }
  return corpus;
}

function recordedValues(file: string): Buffer[] {
  const bytes = fixture(`kafka/${file}`);
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  return text
    .trim()
    .split('\n')
    .map((line) => {
      const { value, value_b64: base64 } = JSON.parse(line);
      return Buffer.from(base64 ?? value, base64 === undefined ? 'utf8' : 'base64');
    });
}

interface Read {
  readonly problem: string | undefined;
  readonly items: readonly (TraceSpan | string)[];
}

/**
 * Gives recorded and mutated messages of spans to the assembler's readers. A share of those in OTLP protobuf
 * must give what the general reader gives.
 *
 * @throws where it does not hold. @returns the milliseconds of the slowest message.
 */
export function fuzzSpans(messages: FuzzMessages, count: number): number {
  const random = () => messages.random();
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
  const rules = random() < 0.5 ? childrenRules : tritonRules;
  const readers = new Map(formats.map((format) => [format, traceReader(format, rules)]));
  const general = keepingReader(readOtlpProto, rules);
  let slowestMs = 0;
  for (let i = 0; i < count; i++) {
    const format = pick(formats);
    const base = pick(corpusOf(format));
    const message = random() < WHOLE_SHARE ? base : messages.mutate(base);
    const read = readers.get(format) as TraceReader;
    const ms = fastestMs(() => check(message, i, read));
    slowestMs = Math.max(slowestMs, ms);
    if (format === 'otlp_proto' && random() < GENERAL_SHARE) {
      expectSame(readAll(read, message), readAll(general, message), messageText(i, message));
    }
  }
  return slowestMs;
}

function check(message: Buffer, number: number, read: TraceReader): void {
  const isShort = (detail: string) => detail.length > 0 && detail.length < 1_000;
  const isGood = (holds: boolean, rule: string) => {
    if (!holds) throw new Error(`${rule}: ${messageText(number, message)}`);
  };
  const problem = read(message, {
    span: (traceId, { bytes }) => {
      isGood(/^[0-9a-f]{1,32}$/.test(traceId), 'a span must have a trace id');
      isGood(bytes > 0, 'a span must have a size');
    },
    malformed: (detail, origin) => {
      isGood(isShort(detail), 'a rejection must say why, in short');
      origin.bytes();
    },
  });
  isGood(problem === undefined || isShort(problem), 'a rejection must say why, in short');
}

function readAll(read: TraceReader, message: Buffer): Read {
  const items: (TraceSpan | string)[] = [];
  const problem = read(message, {
    // The next span may overwrite this one.
    span: (_, span) => items.push({ ...span }),
    malformed: (detail) => items.push(detail),
  });
  return { problem, items };
}

/** Attributes of a span that is no root are not read, so what is wrong in them is not seen. */
function expectSame(found: Read, wanted: Read, text: string): void {
  const items = found.items.map((item, i) => {
    const other = wanted.items[i] as TraceSpan | string;
    const isUnseen = typeof other === 'string' && typeof item !== 'string' && hasParent(item);
    return isUnseen ? other : item;
  });
  deepStrictEqual({ problem: found.problem, items }, wanted, text);
}
