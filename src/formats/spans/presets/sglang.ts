import { type Preset, seconds } from './preset.ts';

/**
 * A request as SGLang traces it, with vLLM's names. Its prefill runs from the dispatch to the first token, so
 * the queue is inside: the stage has its own name.
 */
export const sglang: Preset = {
  name: 'sglang',
  knows: [
    [{ name: /^Req / }, { attribute: 'gen_ai.latency.e2e' }],
    [{ attribute: 'gen_ai.response.model' }, { attribute: 'gen_ai.latency.e2e' }],
  ],
  model: ['gen_ai.response.model'],
  version: ['resource:service.version'],
  id: ['gen_ai.request.id'],
  inputTokens: ['gen_ai.usage.prompt_tokens'],
  outputTokens: ['gen_ai.usage.completion_tokens'],
  total: [seconds('gen_ai.latency.e2e')],
  stages: {
    queue_prefill: [seconds('gen_ai.latency.time_in_model_prefill')],
    decode: [seconds('gen_ai.latency.time_in_model_decode')],
    first_token: [seconds('gen_ai.latency.time_to_first_token')],
  },
};
