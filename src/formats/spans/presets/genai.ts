import { milliseconds, type Preset, seconds } from './preset.ts';

// Calls of a model as clients trace them. Only the innermost call counts: agents, chains, tools and the SDK's
// outer spans would count its time twice.

const operation = 'gen_ai.operation.name';
const modelCalls = ['chat', 'text_completion', 'generate_content', 'embeddings'];
const inputTokens = ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens'];
const outputTokens = ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens'];
const model = ['gen_ai.response.model', 'gen_ai.request.model'];

/** Vercel AI SDK: the outer span has no `.do…` in its operation. */
const vercel: Preset = {
  name: 'vercel_ai',
  knows: [[{ attribute: 'ai.operationId' }]],
  counts: [
    { attribute: 'ai.operationId', valueEndsWith: ['.doGenerate', '.doStream', '.doEmbed'] },
  ],
  kinds: { embedding: [{ attribute: 'ai.operationId', valueEndsWith: ['.doEmbed'] }] },
  model: ['ai.response.model', ...model, 'ai.model.id'],
  requestType: ['ai.operationId'],
  inputTokens: ['ai.usage.inputTokens', 'ai.usage.promptTokens', ...inputTokens, 'ai.usage.tokens'],
  outputTokens: ['ai.usage.outputTokens', 'ai.usage.completionTokens', ...outputTokens],
  stages: { first_token: [milliseconds('ai.response.msToFirstChunk')] },
};

/** OpenInference. A failed call may name its model only among the parameters. */
const openinference: Preset = {
  name: 'openinference',
  knows: [[{ attribute: 'openinference.span.kind' }]],
  counts: [{ attribute: 'openinference.span.kind', values: ['LLM', 'EMBEDDING', 'RERANKER'] }],
  kinds: {
    embedding: [{ attribute: 'openinference.span.kind', values: ['EMBEDDING'] }],
    ranking: [{ attribute: 'openinference.span.kind', values: ['RERANKER'] }],
  },
  model: [
    'llm.model_name',
    'embedding.model_name',
    'reranker.model_name',
    'llm.invocation_parameters#model',
    'embedding.invocation_parameters#model',
  ],
  inputTokens: ['llm.token_count.prompt'],
  outputTokens: ['llm.token_count.completion'],
  stages: { first_token: [{ event: 'First Token Stream Event' }] },
};

/** LiteLLM writes the name of its function as the operation; its proxy calls those that are async. */
const litellmCalls = ['acompletion', 'atext_completion', 'embedding', 'aembedding', 'arerank'];

const openllmetryChunks = ['gen_ai.content.completion.chunk', 'llm.content.completion.chunk'];

/** OpenLLMetry: the conventions' names beside some of its own, and an event for each chunk. */
const openllmetry: Preset = {
  name: 'openllmetry',
  knows: [
    [{ attribute: 'traceloop.span.kind' }],
    [{ attribute: 'gen_ai.is_streaming' }],
    [{ attribute: 'llm.is_streaming' }],
    [{ attribute: 'llm.request.type' }],
  ],
  counts: [
    { attribute: operation, values: [...modelCalls, ...litellmCalls, 'completion', 'rerank'] },
    { attribute: 'llm.request.type', values: ['chat', 'completion', 'embedding', 'rerank'] },
  ],
  kinds: {
    embedding: [
      { attribute: operation, values: ['embeddings', 'embedding', 'aembedding'] },
      { attribute: 'llm.request.type', values: ['embedding'] },
    ],
    ranking: [
      { attribute: operation, values: ['rerank', 'arerank'] },
      { attribute: 'llm.request.type', values: ['rerank'] },
    ],
  },
  model,
  inputTokens,
  outputTokens,
  stages: {
    first_token: [
      seconds('gen_ai.response.time_to_first_chunk'),
      ...openllmetryChunks.map((event) => ({ event })),
    ],
  },
  gaps: openllmetryChunks,
};

/** The GenAI semantic conventions, with the names they had before. */
const conventions: Preset = {
  name: 'genai',
  knows: [[{ attribute: operation }]],
  counts: [{ attribute: operation, values: modelCalls }],
  kinds: { embedding: [{ attribute: operation, values: ['embeddings'] }] },
  model,
  id: ['gen_ai.response.id'],
  inputTokens,
  outputTokens,
  stages: { first_token: [seconds('gen_ai.response.time_to_first_chunk')] },
};

/** As the conventions were before they had operations. */
const earlyConventions: Preset = {
  ...conventions,
  knows: [[{ attribute: 'gen_ai.system' }, { attribute: 'gen_ai.request.model' }]],
  counts: [{ attribute: 'gen_ai.request.model' }],
};

/** In order: the first that knows a span says what becomes of it. */
export const genai: readonly Preset[] = [
  vercel,
  openinference,
  openllmetry,
  conventions,
  earlyConventions,
];
