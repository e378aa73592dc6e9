import { describe, expect, it } from 'vitest';
import { Random } from '../../../src/generate/random.ts';
import { type LlmFault, LlmLaw, type LlmRequest, llmFaultKinds } from './llm-law.ts';

const drawOf = (fault?: LlmFault): LlmRequest[] => {
  const law = new LlmLaw(1, 6);
  const random = new Random('requests');
  return Array.from({ length: 2_000 }, () => law.request(0, fault, random));
};
const meanOf = (requests: readonly LlmRequest[], of: keyof LlmRequest) =>
  requests.reduce((sum, request) => sum + request[of], 0) / requests.length;

describe('traffic of a language model', () => {
  it('is the same for the same seed, in any order of seconds', () => {
    const [one, other] = [new LlmLaw(7, 6), new LlmLaw(7, 6)];
    const later = [...other.second(3_600_000, [])];
    expect([...one.second(0, [])]).toEqual([...other.second(0, [])]);
    expect([...one.second(3_600_000, [])]).toEqual(later);
    expect([...new LlmLaw(8, 6).second(3_600_000, [])]).not.toEqual(later);
  });

  it.each(llmFaultKinds)('has what a fault changes, and no more: %s', (kind) => {
    const fault = { kind, fromMs: 0, toMs: 1, factor: 3, share: 1 };
    const [before, now] = [drawOf(), drawOf(fault)];
    const names = ['queueMs', 'prefillMs', 'decodeMs', 'inputTokens', 'outputTokens'] as const;
    const grown = names.filter((of) => meanOf(now, of) / meanOf(before, of) > 1.5);
    expect(grown).toEqual(
      {
        queue: ['queueMs'],
        prefill: ['prefillMs'],
        decode: ['decodeMs'],
        'longer answers': ['decodeMs', 'outputTokens'],
        'longer prompts': ['prefillMs', 'inputTokens'],
      }[kind],
    );
  });
});
