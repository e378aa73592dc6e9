import { describe, expect, it } from 'vitest';
import { likeWithLike, type MixPart } from '../../src/compare/like-with-like.ts';
import type { SizePart } from '../../src/compare/size-weights.ts';
import { Random } from '../../src/generate/random.ts';
import { bandOf } from '../../src/sketch/band.ts';
import { TDigest } from '../../src/sketch/t-digest.ts';

const random = new Random('like with like');
const durations = (requests: number, ms: number) =>
  Array.from({ length: requests }, () => random.lognormal(ms, 0.3));

function part(requestType: string, values: readonly number[], region = 'eu'): MixPart {
  const total = TDigest.fromValues(values);
  return { requestType, region, requests: values.length, total };
}

function size(value: string, values: readonly number[], facet = 'batch_size'): SizePart {
  const bands = new Map<number, number>();
  for (const ms of values) bands.set(bandOf(ms), (bands.get(bandOf(ms)) ?? 0) + 1);
  return { facet, value, requests: values.length, bands };
}

describe('likeWithLike', () => {
  it('says nothing where the mixes agree up to chance', () => {
    const a = { parts: [part('x', durations(500, 20)), part('y', durations(500, 80))], sizes: [] };
    const b = { parts: [part('x', durations(52, 20)), part('y', durations(48, 80))], sizes: [] };
    expect(likeWithLike(a, b)).toEqual({ sentences: [], weighted: undefined });
    expect(likeWithLike(a, { parts: [], sizes: [] }).sentences).toEqual([]);
  });

  it('weights B to the types and regions of A', () => {
    const fast = durations(4_000, 20);
    const slow = durations(4_000, 80);
    const a = { parts: [part('x', fast), part('y', slow.slice(0, 1_000))], sizes: [] };
    const b = { parts: [part('x', fast.slice(0, 1_000)), part('y', slow)], sizes: [] };
    const { sentences, weighted } = likeWithLike(a, b);
    expect(sentences).toEqual([
      ...['request type y: 80 % of B, 20 % of A.', 'request type x: 20 % of B, 80 % of A.'],
    ]);
    const of = TDigest.merge(a.parts.map(({ total }) => total));
    for (const q of [0.1, 0.5, 0.9]) {
      expect((weighted?.digest.quantile(q) ?? 0) / of.quantile(q)).toBeCloseTo(1, 1);
    }
  });

  it('weights B to the sizes of A where types and regions agree', () => {
    const small = durations(8_000, 20);
    const large = durations(2_000, 80);
    const all = (n: number, m: number) => [...small.slice(0, n), ...large.slice(0, m)];
    const sideOf = (n: number, m: number) => ({
      parts: [part('', all(n, m))],
      sizes: [
        ...[size('1', small.slice(0, n)), size('8-15', large.slice(0, m))],
        size('1-1', small.slice(0, 10), 'input_tokens'),
      ],
    });
    const [a, b] = [sideOf(8_000, 200), sideOf(2_000, 2_000)];
    const { sentences, weighted } = likeWithLike(a, b);
    expect(sentences[0]).toBe('batch_size 8-15: 50 % of B, 2.4 % of A.');
    for (const q of [0.1, 0.5, 0.9, 0.99]) {
      const expected = a.parts[0]?.total.quantile(q) ?? 0;
      expect({ q, ratio: (weighted?.digest.quantile(q) ?? 0) / expected }).toEqual({
        ...{ q, ratio: expect.closeTo(1, 1) },
      });
    }
  });

  it('weights nothing where the sides have no requests of one kind', () => {
    const a = { parts: [part('x', durations(500, 20))], sizes: [] };
    const b = { parts: [part('y', durations(500, 20))], sizes: [] };
    expect(likeWithLike(a, b)).toEqual({
      sentences: ['request type y: 100 % of B, 0 % of A.', 'request type x: 0 % of B, 100 % of A.'],
      weighted: undefined,
    });
  });
});
