import { amountFacets } from '../src/base/facets.ts';
import type { DecodedEvent } from '../src/decode/decoded-event.ts';
import { Interner } from '../src/decode/interner.ts';
import { OtlpProtoDecoder } from '../src/formats/otlp/otlp-proto-decoder.ts';
import { genai } from '../src/formats/spans/presets/genai.ts';
import { sglang } from '../src/formats/spans/presets/sglang.ts';
import { vllm } from '../src/formats/spans/presets/vllm.ts';
import { requestType } from '../test/formats/otlp/definition.ts';
import { measureInTurn, printMeasured } from './measure/in-turn.ts';
import { type OtlpTraffic, otlpRequests } from './traffic/otlp-requests.ts';

// What decoding a request costs that a server's span reports, as the collector writes spans to Kafka, beside
// protobufjs and a read of the same fields. Both see the same messages and must agree on every value first.
// Prints one JSON document: nanoseconds of CPU a span over rounds run alternately.

const inputTokensIndex = amountFacets.indexOf('input_tokens');
const spanCount = 20_000;
const rounds = 11;
const warmUps = 5;

interface Sums {
  events: number;
  skipped: number;
  tsMs: number;
  totalMs: number;
  stagesMs: number;
  tokens: number;
  texts: number;
}
const noSums = (): Sums => ({
  ...{ events: 0, skipped: 0, tsMs: 0, totalMs: 0, stagesMs: 0, tokens: 0, texts: 0 },
});

const values = new Interner(100_000);
const decoder = new OtlpProtoDecoder({
  stages: new Interner(256),
  values,
  maxMessageBytes: 16 << 20,
  maxDurationMs: 3_600_000,
  maxDimensionBytes: 256,
  presets: [vllm, sglang, ...genai],
});

function decodeOurs(messages: readonly Buffer[]): Sums {
  const sums = noSums();
  const sink = {
    event(event: DecodedEvent) {
      sums.events++;
      sums.tsMs += event.tsMs;
      sums.totalMs += event.totalMs;
      sums.tokens += event.amounts[inputTokensIndex] as number;
      for (let i = 0; i < event.stageCount; i++) sums.stagesMs += event.stageMs[i] as number;
      // Service and model.
      for (let i = 0; i < 2; i++) sums.texts += values.text(event.dimensionIds[i] as number).length;
    },
    reject(_index: number, reason: string, detail: string) {
      throw new Error(`a bench span was rejected: ${reason}: ${detail}`);
    },
    skip(count: number) {
      sums.skipped += count;
    },
  };
  for (const message of messages) decoder.decode(message, sink);
  return sums;
}

interface Value {
  readonly stringValue?: string;
  readonly intValue?: { readonly low: number; readonly high: number };
  readonly doubleValue?: number;
}
interface Attribute {
  readonly key: string;
  readonly value: Value;
}
interface Halves {
  readonly low: number;
  readonly high: number;
}
interface Request {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly startTimeUnixNano: Halves;
        readonly endTimeUnixNano: Halves;
        readonly attributes: readonly Attribute[];
      }[];
    }[];
  }[];
}

const stageKeys = [
  'time_in_queue',
  'time_in_model_prefill',
  'time_in_model_decode',
  'time_to_first_token',
];
const stageNames = new Set(stageKeys.map((key) => `gen_ai.latency.${key}`));

/** The same reads as a consumer with protobufjs would write them, for the spans of this bench. */
function decodeByProtobufjs(messages: readonly Buffer[]): Sums {
  const sums = noSums();
  for (const message of messages) {
    const { resourceSpans } = requestType.decode(message) as unknown as Request;
    for (const { resource, scopeSpans } of resourceSpans) {
      const named = resource.attributes.find(({ key }) => key === 'service.name');
      const service = named?.value.stringValue ?? '';
      for (const { spans } of scopeSpans) for (const span of spans) addSpan(span, service, sums);
    }
  }
  return sums;
}

type Span = Request['resourceSpans'][number]['scopeSpans'][number]['spans'][number];

function addSpan(span: Span, service: string, sums: Sums): void {
  let [total, stagesMs, tokens] = [Number.NaN, 0, 0];
  let [isServer, isClient] = [false, false];
  let [requestModel, responseModel] = ['', ''];
  for (const { key, value } of span.attributes) {
    if (key === 'gen_ai.latency.e2e') {
      total = rounded((value.doubleValue as number) * 1000);
      isServer = true;
    } else if (stageNames.has(key) || key === 'gen_ai.response.time_to_first_chunk') {
      stagesMs += rounded((value.doubleValue as number) * 1000);
    } else if (key === 'gen_ai.usage.prompt_tokens' || key === 'gen_ai.usage.input_tokens') {
      tokens = (value.intValue?.high as number) * 2 ** 32 + ((value.intValue?.low as number) >>> 0);
    } else if (key === 'gen_ai.operation.name') isClient = value.stringValue === 'chat';
    else if (key === 'gen_ai.request.model') requestModel = value.stringValue ?? '';
    else if (key === 'gen_ai.response.model') responseModel = value.stringValue ?? '';
  }
  if (!isServer && !isClient) {
    sums.skipped++;
    return;
  }
  const start = nanoseconds(span.startTimeUnixNano);
  const model = responseModel || requestModel || service;
  sums.events++;
  sums.tsMs += Number(start / 1_000_000n);
  if (!isServer) total = Number(nanoseconds(span.endTimeUnixNano) - start) / 1e6;
  sums.totalMs += total;
  sums.stagesMs += stagesMs;
  sums.tokens += tokens;
  sums.texts += service.length + model.length;
}

const nanoseconds = ({ low, high }: Halves) => (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
const rounded = (ms: number) => Math.round(ms * 1e6) / 1e6;

/** Sums of the same numbers in another order differ in their last bits. */
function disagree(ours: Sums, theirs: Sums): boolean {
  return (Object.keys(ours) as (keyof Sums)[]).some(
    (key) => Math.abs(ours[key] - theirs[key]) > 1e-9 * Math.abs(ours[key]),
  );
}

const cases: readonly [string, OtlpTraffic][] = [
  ['vLLM, 200 spans a message', { kind: 'vllm', spansPerMessage: 200 }],
  ['vLLM, 1 span a message', { kind: 'vllm', spansPerMessage: 1 }],
  ['GenAI clients, 200 spans a message', { kind: 'genai', spansPerMessage: 200 }],
  ['spans that are no calls, 200 a message', { kind: 'other', spansPerMessage: 200 }],
];
const results: Record<string, unknown> = {};
for (const [name, traffic] of cases) {
  const messages = otlpRequests(1, spanCount, traffic);
  const [ours, theirs] = [decodeOurs(messages), decodeByProtobufjs(messages)];
  if (disagree(ours, theirs) || ours.events + ours.skipped !== spanCount) {
    throw new Error(`they disagree: ${JSON.stringify({ ours, theirs })}`);
  }
  const options = { items: spanCount, rounds, warmUps };
  const { first, second, medianRatio } = measureInTurn(
    options,
    () => decodeOurs(messages),
    () => decodeByProtobufjs(messages),
  );
  results[name] = {
    bytesASpan: messages.reduce((sum, message) => sum + message.length, 0) / spanCount,
    decoder: first,
    protobufjs: second,
    spansPerCpuSecond: Math.round(1e9 / first.medianNs),
    medianRatio,
  };
}
printMeasured({ rounds, fallbackCount: decoder.fallbackCount, results });
