import { describe, expect, it } from 'vitest';
import { type AskedNames, findUnknown, unknownText } from '../../src/series/unknown-name.ts';

const stored: Readonly<Record<string, readonly string[]>> = {
  'model ': ['embedder', 'ranker', 'llm'],
  'version ranker': ['v2', 'v1', ''],
  'region ranker': ['eu-west-1', 'us-east-1'],
  'request_type ranker': [''],
  'stage ranker': ['total', 'queue', 'features'],
  'stage ': ['total', 'decode'],
  'attributes.adapter llm': ['lora-1', '', 'a,b'],
  'attributes.gpu llm': ['h100'],
  'attributes.pool llm': [''],
};
const textOf = async (asked: AskedNames) => {
  const unknown = await findUnknown(asked, async (thing, model) => stored[`${thing} ${model}`]);
  return unknown && unknownText(unknown);
};

describe('a name that no request has', () => {
  it.each([
    [
      { model: 'rnker' },
      'No request of model "rnker" is stored. Known models: ranker, embedder, llm.',
    ],
    [
      { model: 'nothing-like-it', version: 'v9' },
      'No request of model "nothing-like-it" is stored. Known models: embedder, ranker, llm.',
    ],
    [
      { model: 'ranker', version: 'v3' },
      'No request of model "ranker" has the version "v3". Known versions: v2, v1.',
    ],
    [
      { model: 'ranker', region: 'us-east' },
      'No request of model "ranker" has the region "us-east". Known regions: us-east-1, eu-west-1.',
    ],
    [
      { model: 'ranker', request_type: 'search' },
      'No request of model "ranker" has the request type "search".',
    ],
    [
      { model: 'ranker', stage: 'featurs' },
      'No request of model "ranker" has the stage "featurs". Known stages: features, total, queue.',
    ],
    [
      { model: 'llm', attributePairs: ['adapter=lora-2'] },
      'No request of model "llm" has the attributes.adapter "lora-2". Known values: lora-1, (none), a,b.',
    ],
    [
      { model: 'llm', attributePairs: ['adapter=a%2Cb', 'gpu='] },
      'No request of model "llm" is without attributes.gpu. Known values: h100.',
    ],
    [
      { model: 'llm', attributePairs: ['pool=a'] },
      'No request of model "llm" has any attributes.pool. Events are kept by it while windows.dimensions has it.',
    ],
    [{ stage: 'decod' }, 'No request has the stage "decod". Known stages: decode, total.'],
  ])(
    'is named beside those that there are, the most similar one first: %j',
    async (asked, text) => {
      expect(await textOf(asked)).toBe(text);
    },
  );

  it.each([
    {},
    { model: 'ranker', version: 'v1', region: 'us-east-1', stage: 'queue' },
    // Whole requests of a model that has stages only.
    { model: 'llm', stage: 'total' },
    { model: 'llm', attributePairs: ['adapter='] },
    // Too many to tell.
    { model: 'ranker', version: '' },
  ])('is none of these: %j', async (asked) => {
    expect(await textOf(asked)).toBeUndefined();
  });
});
