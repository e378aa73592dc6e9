import {
  bytesField,
  doubleField,
  fixed32Field,
  fixed64Field,
  varintField,
} from './proto-writer.ts';

type Value = string | boolean | number | bigint | Buffer | readonly Value[] | null;
type Pairs = readonly (readonly [string, Value])[];

/** Attributes as the servers and libraries write them. */
const kinds: Readonly<Record<string, (random: () => number) => { name: string; pairs: Pairs }>> = {
  vllm: (random) => ({
    name: 'llm_request',
    pairs: [
      ['gen_ai.latency.time_to_first_token', random()],
      ['gen_ai.latency.e2e', 2 + random()],
      ['gen_ai.latency.time_in_queue', random() / 10],
      ['gen_ai.usage.prompt_tokens', whole(random, 2_000)],
      ['gen_ai.usage.completion_tokens', whole(random, 500)],
      ['gen_ai.latency.time_in_model_prefill', random()],
      ['gen_ai.latency.time_in_model_decode', random() * 2],
      ['gen_ai.latency.time_in_model_inference', random() * 3],
      ['gen_ai.request.id', `chatcmpl-${whole(random, 1e6)}`],
      ['gen_ai.request.top_p', 0.9],
      ['gen_ai.request.max_tokens', 256n],
      ['gen_ai.request.temperature', 0.7],
      ['gen_ai.request.n', 1n],
    ],
  }),
  sglang: (random) => ({
    name: `Req ${whole(random, 1e9)}`,
    pairs: [
      ['gen_ai.usage.completion_tokens', whole(random, 500)],
      ['gen_ai.usage.prompt_tokens', whole(random, 2_000)],
      ['gen_ai.request.id', `${whole(random, 1e9)}`],
      ['gen_ai.response.model', pick(random, models)],
      ['gen_ai.response.finish_reasons', ['stop']],
      ['gen_ai.latency.time_to_first_token', random()],
      ['gen_ai.latency.e2e', 3 * random()],
      ['gen_ai.latency.time_in_model_prefill', random()],
      ['gen_ai.latency.time_in_model_decode', random()],
    ],
  }),
  genai: (random) => ({
    name: 'chat m',
    pairs: [
      ['gen_ai.operation.name', pick(random, ['chat', 'chat', 'embeddings', 'invoke_agent'])],
      ['gen_ai.provider.name', 'openai'],
      ['gen_ai.request.model', pick(random, models)],
      ['gen_ai.response.model', pick(random, models)],
      ['gen_ai.response.id', `resp-${whole(random, 1e6)}`],
      ['gen_ai.usage.input_tokens', whole(random, 900)],
      ['gen_ai.usage.output_tokens', whole(random, 900)],
      ['gen_ai.response.time_to_first_chunk', random()],
      ['server.address', 'api.example.com'],
    ],
  }),
  openllmetry: (random) => ({
    name: 'openai.chat',
    pairs: [
      ['gen_ai.operation.name', 'chat'],
      ['gen_ai.is_streaming', true],
      ['gen_ai.request.model', pick(random, models)],
      ['gen_ai.prompt.0.content', 'größer '.repeat(random() * 40)],
      ['gen_ai.usage.input_tokens', whole(random, 900)],
    ],
  }),
  openinference: (random) => ({
    name: 'ChatCompletion',
    pairs: [
      ['openinference.span.kind', pick(random, ['LLM', 'CHAIN', 'EMBEDDING'])],
      ['llm.model_name', pick(random, models)],
      ['llm.invocation_parameters', '{"model":"from-json"}'],
      ['llm.token_count.prompt', whole(random, 900)],
    ],
  }),
  vercel: (random) => ({
    name: 'ai.streamText.doStream',
    pairs: [
      ['ai.operationId', pick(random, ['ai.streamText', 'ai.streamText.doStream'])],
      ['ai.model.id', pick(random, models)],
      ['ai.usage.inputTokens', whole(random, 900)],
      ['ai.response.msToFirstChunk', random() * 900],
    ],
  }),
  other: (random) => ({
    name: pick(random, ['GET /', 'llm_request', 'Req 1']),
    pairs: [
      ['http.request.method', 'GET'],
      ['http.response.status_code', 200n],
      ['gen_ai.latency.time_in_queu', 1],
    ],
  }),
};
const kindNames = Object.keys(kinds);
const models = ['m', 'llama-3', 'größe', '', '__other__', 'x'.repeat(300)];
const keys = [
  ...kindNames.flatMap((kind) => kinds[kind]?.(() => 0.5).pairs.map(([key]) => key) ?? []),
  'error.type',
  'ml.model.version',
  'tenant.id',
  'gen_ai.system',
  'traceloop.span.kind',
  'llm.request.type',
  'embedding.model_name',
  'ai.response.model',
  '',
];
const resourceKeys = [
  'service.name',
  'service.version',
  'host.name',
  'k8s.pod.name',
  'cloud.region',
  'tenant.id',
  'telemetry.sdk.name',
];
const eventNames = [
  'gen_ai.content.completion.chunk',
  'llm.content.completion.chunk',
  'First Token Stream Event',
  'exception',
  'log',
];
const causes = ['', 'TimeoutError', 'deadline_exceeded', 'CancelledError', 'ValueError', '504'];

function pick<T>(random: () => number, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)] as T;
}

function whole(random: () => number, limit: number): bigint {
  return BigInt(Math.floor(random() * limit));
}

export interface RandomOptions {
  /** Share of what common writers do not write: fields left out, doubled, of another type, unknown. */
  readonly oddShare: number;
  readonly spans: number;
}

/** Requests of seeded spans, valid protobuf, the fields in any order. */
export class RandomRequests {
  readonly #random: () => number;
  readonly #options: RandomOptions;
  #order = 0;

  constructor(random: () => number, options: RandomOptions = { oddShare: 0.05, spans: 4 }) {
    this.#random = random;
    this.#options = options;
  }

  next(): Buffer {
    // Ascending like the SDKs, descending like the collector, or none.
    this.#order = Math.floor(this.#random() * 3);
    return Buffer.concat(this.#list(1, 3, () => this.#resourceSpans()));
  }

  #resourceSpans(): Buffer {
    const scopes = this.#list(0, 3, () => this.#scopeSpans());
    const attributes = resourceKeys
      .filter(() => this.#random() < 0.7)
      .map((key) => this.#attribute(1, key, `${key}-${Math.floor(this.#random() * 3)}`));
    const resource = this.#random() < 0.95 ? [bytesField(1, this.#ordered(attributes))] : [];
    return bytesField(1, this.#ordered([...resource, ...scopes, ...this.#unknown()]));
  }

  #scopeSpans(): Buffer {
    const scope = bytesField(1, [bytesField(1, 'scope'), bytesField(2, '1.0')]);
    const spans = this.#list(0, this.#options.spans * 2, () => bytesField(2, this.span()));
    return bytesField(2, this.#ordered([scope, ...spans, ...this.#unknown()]));
  }

  /** The body of one span. */
  span(): Buffer {
    const random = this.#random;
    const { name, pairs } = kinds[pick(random, kindNames)]!(random);
    const start = 1_795_609_800_000_000_000n + BigInt(Math.floor(random() * 1e15));
    const length = BigInt(Math.floor(random() * 5e9)) - (this.#isOdd() ? 5_000_000_000n : 0n);
    const isFailed = random() < 0.1;
    const optional = (field: Buffer) => (this.#isOdd() ? [] : [field]);
    const oddPairs = this.#isOdd() ? [[pick(random, keys), this.#value()] as const] : [];
    const fields = [
      ...optional(bytesField(1, this.#id(16))),
      ...optional(bytesField(2, this.#id(8))),
      ...(this.#isOdd() ? [bytesField(3, 'ot=th:e66666')] : []),
      ...(random() < 0.5 ? [bytesField(4, this.#id(8))] : []),
      bytesField(5, name),
      varintField(6, Math.floor(random() * 6)),
      ...(this.#isOdd() ? [] : [fixed64Field(7, this.#isOdd() ? 0n : start)]),
      ...(this.#isOdd() ? [] : [fixed64Field(8, this.#isOdd() ? 0n : start + length)]),
      ...pairs.filter(() => !this.#isOdd()).map(([key, value]) => this.#attribute(9, key, value)),
      ...oddPairs.map(([key, value]) => this.#attribute(9, key, value)),
      ...(isFailed && random() < 0.5
        ? [this.#attribute(9, 'error.type', pick(random, causes))]
        : []),
      ...(this.#isOdd() ? [varintField(10, 3)] : []),
      ...(random() < 0.2 ? this.#list(1, 4, () => this.#event(start)) : []),
      ...(this.#isOdd() ? [bytesField(13, [bytesField(1, this.#id(16))])] : []),
      ...(random() < 0.5 ? [this.#status(isFailed)] : []),
      fixed32Field(16, 256),
      ...this.#unknown(),
    ];
    return Buffer.concat(this.#ordered(fields));
  }

  #status(isFailed: boolean): Buffer {
    const fields = [bytesField(2, 'failed'), varintField(3, isFailed ? 2 : 1)];
    return bytesField(15, this.#random() < 0.3 ? [] : this.#ordered(fields));
  }

  #event(start: bigint): Buffer {
    const time = this.#isOdd() ? 0n : start + BigInt(Math.floor(this.#random() * 1e9) - 1e6);
    const exception = this.#attribute(3, 'exception.type', pick(this.#random, causes));
    const name = pick(this.#random, eventNames);
    const fields = [
      fixed64Field(1, time),
      bytesField(2, name),
      ...(name === 'exception' ? [exception] : []),
      ...this.#unknown(),
    ];
    return bytesField(11, this.#ordered(fields));
  }

  #attribute(field: number, key: string, value: Value): Buffer {
    const odd = this.#isOdd() ? this.#value() : value;
    const pair = [bytesField(1, key), ...(odd === null ? [] : [bytesField(2, anyValue(odd))])];
    return bytesField(field, this.#ordered(pair));
  }

  #value(): Value {
    return pick<Value>(this.#random, [
      null,
      '',
      'text',
      'größe',
      true,
      false,
      -1n,
      -0.5,
      2n ** 62n,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      1e300,
      5e-324,
      7,
      BigInt(Math.floor(this.#random() * 2 ** 50)),
      ['a', ['b', 1n]],
      Buffer.from([0, 255]),
      'chat',
      'LLM',
    ]);
  }

  #id(bytes: number): Buffer {
    if (this.#isOdd()) return Buffer.alloc(this.#random() < 0.5 ? bytes : 0);
    const length = this.#isOdd() ? Math.floor(this.#random() * 20) : bytes;
    return Buffer.from(Array.from({ length }, () => Math.floor(this.#random() * 256)));
  }

  #unknown(): Buffer[] {
    if (!this.#isOdd()) return [];
    return [
      pick(this.#random, [
        varintField(1000, 5),
        bytesField(99, 'future'),
        fixed64Field(536_870_911, 1n),
        fixed32Field(77, 1),
      ]),
    ];
  }

  #isOdd(): boolean {
    return this.#random() < this.#options.oddShare;
  }

  #list<T>(from: number, to: number, make: () => T): T[] {
    const length = from + Math.floor(this.#random() * (to - from + 1));
    return Array.from({ length }, make);
  }

  #ordered(fields: readonly Buffer[]): Buffer[] {
    if (this.#order === 0) return [...fields];
    if (this.#order === 1) return fields.toReversed();
    const shuffled = [...fields];
    for (let i = shuffled.length - 1; i > 0; i--) {
      const j = Math.floor(this.#random() * (i + 1));
      [shuffled[i], shuffled[j]] = [shuffled[j]!, shuffled[i]!];
    }
    return shuffled;
  }
}

function anyValue(value: Value): Buffer {
  if (typeof value === 'string') return bytesField(1, value);
  if (typeof value === 'boolean') return varintField(2, Number(value));
  if (typeof value === 'bigint') return varintField(3, value);
  if (typeof value === 'number') return doubleField(4, value);
  if (value instanceof Buffer) return bytesField(7, value);
  const values = (value as readonly Value[]).map((entry) => bytesField(1, anyValue(entry)));
  return bytesField(5, values);
}
