import { expect, test } from 'vitest';
import { otlpJson } from '../../../src/convert/spans/span-formats.ts';
import { fixtureText } from '../../convert/conversion.ts';
import { results } from '../../convert/spans/results.ts';

interface SpanOptions {
  readonly name?: string;
  readonly attributes: Record<string, unknown>;
  readonly events?: unknown[];
  readonly status?: unknown;
}

/** Returns a request of one span of 2 ms, from service s. */
function request({ name = 'x', attributes, events = [], status }: SpanOptions): string {
  const span = {
    name,
    startTimeUnixNano: '1795609800000000000',
    endTimeUnixNano: '1795609800002000000',
    attributes: attributeList(attributes),
    events,
    status,
  };
  const resource = { attributes: attributeList({ 'service.name': 's' }) };
  return JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] });
}

function attributeList(attributes: Record<string, unknown>) {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }));
}

function anyValue(value: unknown) {
  if (typeof value === 'string') return { stringValue: value };
  return typeof value === 'number' ? { doubleValue: value } : { boolValue: value };
}

const eventOf = async (options: SpanOptions) =>
  (await results(otlpJson, request(options))).drafts[0]?.event;

test.each(['otel_genai_client_span_tool_calls', 'otel_genai_deprecated_client_span_tool_calls'])(
  'attributes of %s',
  async (file) => {
    const attributes = JSON.parse(fixtureText(`openinference/${file}.json`));
    expect(await eventOf({ attributes })).toMatchObject({
      model: 'gpt-4-0613',
      id: 'chatcmpl-CQF10eCkoFphJZJQkzzN6EkTD0AVF',
      service: 's',
      input_tokens: 97,
      output_tokens: 52,
      total_ms: 2,
    });
  },
);

test("vLLM's engine V0 names its model", async () => {
  const attributes = { 'gen_ai.latency.e2e': 2, 'gen_ai.latency.time_in_queue': 0.5 };
  const stages_ms = { queue: 500 };
  const named = { ...attributes, 'gen_ai.response.model': 'm' };
  expect(await eventOf({ attributes: named })).toMatchObject({ model: 'm', stages_ms });
  expect(await eventOf({ attributes })).toMatchObject({ model: 's', stages_ms });
});

test('names of the conventions before they had operations', async () => {
  const attributes = {
    'gen_ai.system': 'openai',
    'gen_ai.request.model': 'm',
    'gen_ai.usage.prompt_tokens': 3,
    'gen_ai.usage.completion_tokens': 4,
  };
  expect(await eventOf({ attributes })).toMatchObject({
    model: 'm',
    input_tokens: 3,
    output_tokens: 4,
  });
});

test('only the innermost call of a model counts', async () => {
  const skipped: Record<string, unknown>[] = [
    { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.request.model': 'm', 'gen_ai.system': 'a' },
    { 'gen_ai.operation.name': 'execute_tool' },
    { 'openinference.span.kind': 'CHAIN', 'gen_ai.operation.name': 'chat' },
    { 'ai.operationId': 'ai.generateText', 'gen_ai.operation.name': 'chat' },
    { 'ai.operationId': 'ai.toolCall' },
    { 'traceloop.span.kind': 'workflow', 'gen_ai.system': 'a', 'gen_ai.request.model': 'm' },
    { 'http.route': '/ask' },
  ];
  for (const attributes of skipped) {
    const got = await results(otlpJson, request({ attributes }));
    expect(got).toEqual({ drafts: [], rejects: [], skipped: 1 });
  }
});

test('LiteLLM names its own function where the conventions have an operation', async () => {
  // As release 1.110.2 writes them; its proxy calls the async functions.
  const call = (operation: string) => ({
    name: 'litellm_request',
    attributes: {
      'gen_ai.operation.name': operation,
      'llm.request.type': operation,
      'gen_ai.system': 'openai',
      'gen_ai.request.model': 'gpt-test',
      'gen_ai.response.model': 'gpt-test',
    },
  });
  for (const operation of ['acompletion', 'atext_completion', 'aembedding', 'arerank']) {
    expect(await eventOf(call(operation))).toMatchObject({ model: 'gpt-test', total_ms: 2 });
  }
  const raw = { name: 'raw_gen_ai_request', attributes: { 'llm.openai.model': 'gpt-test' } };
  expect(await eventOf(raw)).toBeUndefined();
  expect(await eventOf(call('aretrieve_batch'))).toBeUndefined();
});

test('vLLM and SGLang mean other things by the same names', async () => {
  const latency = {
    'gen_ai.latency.e2e': 1.5,
    'gen_ai.latency.time_in_model_prefill': 0.25,
    'gen_ai.latency.time_to_first_token': 0.5,
  };
  expect(await eventOf({ name: 'llm_request', attributes: latency })).toMatchObject({
    model: 's',
    total_ms: 1500,
    stages_ms: { prefill: 250, first_token: 500 },
  });
  const sglang = { ...latency, 'gen_ai.response.model': 'm' };
  expect(await eventOf({ name: 'Req 1', attributes: sglang })).toMatchObject({
    model: 'm',
    total_ms: 1500,
    stages_ms: { queue_prefill: 250, first_token: 500 },
  });
});

test('without an end-to-end latency the span is the total', async () => {
  const attributes = { 'gen_ai.latency.time_in_queue': 0.001 };
  expect(await eventOf({ attributes })).toMatchObject({ total_ms: 2, stages_ms: { queue: 1 } });
});

test('the earliest event of the name is the first token', async () => {
  const event = (name: string, ns: string) => ({ name, timeUnixNano: `1795609800${ns}` });
  const events = [
    event('other', '000000001'),
    event('First Token Stream Event', '001500000'),
    event('First Token Stream Event', '000700001'),
    { name: 'First Token Stream Event', timeUnixNano: 'never' },
  ];
  const attributes = { 'openinference.span.kind': 'LLM', 'llm.model_name': 'm' };
  const got = await eventOf({ attributes, events });
  expect(got).toMatchObject({ stages_ms: { first_token: 0.700001 } });
});

test.each([
  ['timeout', 'timeout'],
  ['APITimeoutError', 'timeout'],
  ['timed_out', 'timeout'],
  ['DEADLINE_EXCEEDED', 'timeout'],
  ['504', 'timeout'],
  ['asyncio.CancelledError', 'cancelled'],
  ['AbortError', 'cancelled'],
  ['500', 'error'],
  ['RateLimitError', 'error'],
])('error.type %s is the status %s', async (type, status) => {
  const attributes = { 'gen_ai.operation.name': 'chat', 'error.type': type };
  expect(await eventOf({ attributes, status: { code: 2 } })).toMatchObject({ status });
});

test('an exception says what an error is, and none of itself', async () => {
  const attributes = attributeList({ 'exception.type': 'httpx.ReadTimeout' });
  const events = [{ name: 'exception', timeUnixNano: '1795609800000000001', attributes }];
  const chat = { 'gen_ai.operation.name': 'chat' };
  const failed = await eventOf({ attributes: chat, events, status: { code: 'STATUS_CODE_ERROR' } });
  expect(failed).toMatchObject({ status: 'timeout' });
  expect(await eventOf({ attributes: chat, events })).toMatchObject({ status: 'ok' });
});
