import { type Preset, seconds } from './preset.ts';

/**
 * A request as vLLM's server traces it. The total is the engine's end-to-end latency: the span ends a little
 * later. Prefill runs from scheduling to the first token. The engine V0 names its model; V1 does not, but its
 * service may.
 */
export const vllm: Preset = {
  name: 'vllm',
  knows: [
    [{ attribute: 'gen_ai.latency.time_in_queue' }],
    [{ name: /^llm_request$/ }, { attribute: 'gen_ai.latency.e2e' }],
    [{ name: /^llm_request$/ }, { attribute: 'gen_ai.latency.time_to_first_token' }],
  ],
  model: ['gen_ai.response.model', 'resource:service.name'],
  version: ['resource:service.version'],
  id: ['gen_ai.request.id'],
  inputTokens: ['gen_ai.usage.prompt_tokens'],
  outputTokens: ['gen_ai.usage.completion_tokens'],
  total: [seconds('gen_ai.latency.e2e')],
  stages: {
    queue: [seconds('gen_ai.latency.time_in_queue')],
    prefill: [seconds('gen_ai.latency.time_in_model_prefill')],
    decode: [seconds('gen_ai.latency.time_in_model_decode')],
    first_token: [seconds('gen_ai.latency.time_to_first_token')],
  },
};
