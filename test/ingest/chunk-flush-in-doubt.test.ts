import { describe, expect, it } from 'vitest';
import { ChunkFlush } from '../../src/ingest/chunk-flush.ts';
import { chunk, options, worldOf } from './flush-world.ts';

describe('a chunk that its predecessor may have sent', () => {
  const part = { table: 'chunk_landings', kind: undefined, fromS: 0, toS: 1 };
  it.each([
    ['no table has is sent to all of them', true, ['missing', 'insert', 'missing']],
    [
      'other tables have is sent to those that lack it',
      false,
      ['missing', 'missing', 'fill chunk_landings 0'],
    ],
  ])('that has not landed, is forgotten, and that %s', async (_, isNowhere, expected) => {
    const parts = isNowhere ? [[part], []] : [[part], [part]];
    const found = { isLanded: false, isRemembered: false, isNowhere };
    const { steps, claim, context } = worldOf({}, found, parts);
    await new ChunkFlush(claim, chunk, [], { ...options, inherited: true }, context).run();
    expect(steps.slice(0, 5)).toEqual(['commit 10 55 20', 'look', ...expected]);
    expect(steps.includes('insert')).toBe(isNowhere);
  });
});
