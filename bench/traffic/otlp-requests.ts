import { Random } from '../../src/generate/random.ts';
import {
  bytesField,
  doubleField,
  fixed32Field,
  fixed64Field,
  varintField,
} from '../../test/formats/otlp/proto-writer.ts';

export interface OtlpTraffic {
  /** Spans of vLLM's server, of clients by the GenAI conventions, or of HTTP servers. */
  readonly kind: 'vllm' | 'genai' | 'other';
  readonly spansPerMessage: number;
  /** End of the first span, and from each to the next. @default {a time of 2026, 10 ms} */
  readonly startNs?: bigint;
  readonly stepNs?: bigint;
}

type Attribute = readonly [string, Buffer];

const byDefault = { startNs: 1_795_609_800_000_000_000n, stepNs: 10_000_123n };
const double = (key: string, value: number): Attribute => [key, doubleField(4, value)];
const whole = (key: string, value: number): Attribute => [key, varintField(3, value)];
const text = (key: string, value: string): Attribute => [key, bytesField(1, value)];

/** Seconds of a stage. */
const seconds = (random: Random, median: number) => random.lognormal(median, 0.5);

const attributes = {
  vllm: (random: Random, n: number, e2e: number) => [
    double('gen_ai.latency.time_to_first_token', seconds(random, 0.2)),
    double('gen_ai.latency.e2e', e2e),
    double('gen_ai.latency.time_in_queue', seconds(random, 0.05)),
    whole('gen_ai.usage.prompt_tokens', 1 + (random.uint32() % 2_000)),
    whole('gen_ai.usage.completion_tokens', 1 + (random.uint32() % 500)),
    double('gen_ai.latency.time_in_model_prefill', seconds(random, 0.1)),
    double('gen_ai.latency.time_in_model_decode', seconds(random, 1.5)),
    double('gen_ai.latency.time_in_model_inference', seconds(random, 1.6)),
    text('gen_ai.request.id', `chatcmpl-${String(n).padStart(32, '0')}`),
    double('gen_ai.request.top_p', 0.9),
    whole('gen_ai.request.max_tokens', 256),
    double('gen_ai.request.temperature', 0.7),
    whole('gen_ai.request.n', 1),
  ],
  genai: (random: Random, n: number) => [
    text('gen_ai.operation.name', 'chat'),
    text('gen_ai.provider.name', 'openai'),
    text('gen_ai.request.model', 'gpt-4o-mini'),
    text('gen_ai.response.model', `gpt-4o-mini-2024-07-${10 + (n % 20)}`),
    text('gen_ai.response.id', `chatcmpl-${n}`),
    whole('gen_ai.usage.input_tokens', 1 + (random.uint32() % 2_000)),
    whole('gen_ai.usage.output_tokens', 1 + (random.uint32() % 500)),
    double('gen_ai.response.time_to_first_chunk', seconds(random, 0.3)),
    text('server.address', 'api.example.com'),
  ],
  other: (random: Random) => [
    text('http.request.method', 'GET'),
    text('url.path', '/v1/rank'),
    text('url.scheme', 'https'),
    text('server.address', 'rank.example.com'),
    text('user_agent.original', 'python-requests/2.32.3'),
    whole('http.response.status_code', 200),
    whole('server.port', 443),
    double('load', random.uniform()),
  ],
} satisfies Record<string, (random: Random, n: number, e2e: number) => Attribute[]>;

const names = { vllm: 'llm_request', genai: 'chat gpt-4o-mini', other: 'GET /v1/rank' };

/** Seeded requests as the collector writes them: every message's fields descending. */
export function otlpRequests(seed: number, count: number, traffic: OtlpTraffic): Buffer[] {
  return [...eachOtlpRequest(seed, count, traffic)];
}

/** As `otlpRequests`, one at a time. */
export function* eachOtlpRequest(
  seed: number,
  count: number,
  traffic: OtlpTraffic,
): Generator<Buffer, void> {
  const random = new Random(seed);
  for (let n = 0; n < count; ) {
    const spans: Buffer[] = [];
    while (n < count && spans.length < traffic.spansPerMessage) {
      spans.push(bytesField(2, spanOf(random, n++, { ...byDefault, ...traffic })));
    }
    const resource = bytesField(1, resourceAttributes);
    const scope = bytesField(1, [bytesField(1, 'vllm.llm_engine')]);
    yield bytesField(1, [bytesField(2, [...spans, scope]), resource]);
  }
}

const attributeOf = (field: number, [key, value]: Attribute) =>
  bytesField(field, [bytesField(2, value), bytesField(1, key)]);

const resourceAttributes = [
  text('service.name', 'llama-3-70b'),
  text('service.version', '2026-11-01'),
  text('host.name', 'gpu-7'),
  text('cloud.region', 'eu-west-1'),
  text('telemetry.sdk.language', 'python'),
  text('telemetry.sdk.name', 'opentelemetry'),
  text('telemetry.sdk.version', '1.45.2'),
].map((attribute) => attributeOf(1, attribute));

function spanOf(
  random: Random,
  n: number,
  { kind, startNs, stepNs }: OtlpTraffic & typeof byDefault,
): Buffer[] {
  // Published when they end.
  const end = startNs + BigInt(n) * stepNs;
  const e2e = seconds(random, 2);
  const start = end - BigInt(Math.round(e2e * 1e9));
  return [
    fixed32Field(16, 256),
    bytesField(15, ''),
    ...attributes[kind](random, n, e2e).map((attribute) => attributeOf(9, attribute)),
    fixed64Field(8, end),
    fixed64Field(7, start),
    varintField(6, kind === 'genai' ? 3 : 2),
    bytesField(5, names[kind]),
    bytesField(4, idOf(random, 8)),
    bytesField(2, idOf(random, 8)),
    bytesField(1, idOf(random, 16)),
  ];
}

function idOf(random: Random, bytes: number): Buffer {
  const id = Buffer.alloc(bytes);
  for (let at = 0; at < bytes; at += 4) id.writeUInt32LE(random.uint32(), at);
  return id;
}
