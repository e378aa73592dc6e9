import { expect, it } from 'vitest';
import { atSizes, compareMixes, likeWithLike } from '../../src/compare/like-with-like.ts';
import { type SizePart, sizeWeights, sizeWeightsError } from '../../src/compare/size-weights.ts';
import { Random } from '../../src/generate/random.ts';
import { bandOf } from '../../src/sketch/band.ts';
import { TDigest } from '../../src/sketch/t-digest.ts';
import { type LlmFault, LlmLaw, type LlmRequest } from '../eval/llm/llm-law.ts';

const requests = 8_000;
const quantiles = [0.5, 0.95, 0.99];

/** Requests of a server whose decode takes a factor longer, of answers as they were or longer. */
function served(seed: number, of: { readonly decode: number; readonly longer: number }) {
  const fault: LlmFault = {
    ...{ kind: 'longer answers', fromMs: 0, toMs: Infinity, factor: of.longer, share: 1 },
  };
  const law = new LlmLaw(seed, 1);
  const random = new Random(`sizes ${seed} ${of.decode} ${of.longer}`);
  return Array.from({ length: requests }, () => {
    const one = law.request(3_600_000, of.longer === 1 ? undefined : fault, random);
    return { ...one, totalMs: one.queueMs + one.prefillMs + one.decodeMs * of.decode };
  });
}

type Served = LlmRequest & { readonly totalMs: number };

/** As `drivers_1m` keeps sizes: by powers of two, each by the band of the total. */
function sideOf(all: readonly Served[]) {
  const sizes = new Map<string, { requests: number; bands: Map<number, number> }>();
  for (const { outputTokens, totalMs } of all) {
    const low = 2 ** Math.floor(Math.log2(outputTokens));
    const value = low === 1 ? '1' : `${low}-${2 * low - 1}`;
    const size = sizes.get(value) ?? { requests: 0, bands: new Map() };
    sizes.set(value, size);
    size.requests += 1;
    size.bands.set(bandOf(totalMs), (size.bands.get(bandOf(totalMs)) ?? 0) + 1);
  }
  const total = TDigest.fromValues(all.map(({ totalMs }) => totalMs));
  return {
    parts: [{ requestType: '', region: '', requests: all.length, total }],
    sizes: [...sizes].map(
      ([value, size]): SizePart => ({ facet: 'output_tokens', value, ...size }),
    ),
  };
}

it.each([
  [1.25, 1, 0.1],
  [1.5, 1.5, 0.15],
  [2, 1, 0.15],
  [2, 1.5, 0.15],
  [3, 1.5, 0.25],
  [0.5, 1, 0.25],
])(
  'of answers %f times as long and tokens %f times as slow, tails at the lengths of A are right within %f',
  (longer, decode, bound) => {
    for (let seed = 1; seed <= 8; seed++) {
      const a = sideOf(served(seed, { decode: 1, longer: 1 }));
      const b = sideOf(served(seed, { decode, longer }));
      const { weighted } = likeWithLike(a, b);
      expect(sizeWeightsError(a.sizes, b.sizes)).toBeGreaterThanOrEqual(bound);
      // The same server with the answers of A, request by request.
      const truth = sideOf(served(seed, { decode, longer: 1 })).parts[0]?.total as TDigest;
      for (const q of quantiles) {
        const error = (weighted?.digest.quantile(q) ?? 0) / truth.quantile(q) - 1;
        expect({ seed, q, error: Math.abs(error) <= bound ? 0 : error }).toEqual({
          seed,
          q,
          error: 0,
        });
      }
    }
  },
);

it('nothing is weighted where the same requests are slower', () => {
  for (let seed = 1; seed <= 8; seed++) {
    const a = sideOf(served(seed, { decode: 1, longer: 1 }));
    const slower = sideOf(served(seed, { decode: 2, longer: 1 }));
    expect(atSizes('output_tokens', a.sizes, slower.sizes, slower.parts)).toBeUndefined();
  }
});

it('no error is known of sizes that differ by more than was measured', () => {
  const { sizes } = sideOf(served(1, { decode: 1, longer: 1 }));
  for (const longer of [0.25, 5]) {
    const other = sideOf(served(1, { decode: 1, longer }));
    expect([longer, sizeWeightsError(sizes, other.sizes)]).toEqual([longer, undefined]);
  }
});

it('sizes that agree weigh 1, and bands of which nothing is known too', () => {
  const { sizes } = sideOf(served(1, { decode: 1, longer: 1 }));
  const factorOf = sizeWeights(sizes, sizes);
  for (const band of sizes.flatMap(({ bands }) => [...bands.keys()])) {
    expect(factorOf(band)).toBeCloseTo(1, 1);
  }
  expect(factorOf(-80)).toBe(1);
});

it('a quantile is left out where few requests of B stand for many of A', () => {
  const a = sideOf(served(1, { decode: 1, longer: 1 }));
  const at = (q: number) => ({
    ...{ q, candidate_ms: 1, baseline_ms: 1, ratio: 1, ratio_low: null, ratio_high: null },
  });
  const of = (longer: number, count: number) =>
    compareMixes({ quantiles: quantiles.map(at) }, [
      a,
      sideOf(served(1, { decode: 1, longer }).slice(0, count)),
    ]).like_with_like?.map(({ candidate_ms }) => candidate_ms !== null);
  expect(of(2, requests)).toEqual([true, true, true]);
  expect(of(2, 400)).toEqual([true, true, false]);
});
