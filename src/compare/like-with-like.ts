import { formatShare } from '../contract/format.ts';
import { bandOf } from '../sketch/band.ts';
import { TDigest } from '../sketch/t-digest.ts';
import { mergedCentroids } from './compare-options.ts';
import type { Comparison, NamedComparison } from './comparison.ts';

/** Requests of one type in one region. */
export interface MixPart {
  readonly requestType: string;
  readonly region: string;
  readonly requests: number;
  readonly total: TDigest;
}

/** Requests of one size, by the band of their total. */
export interface SizePart {
  readonly facet: string;
  readonly value: string;
  readonly requests: number;
  readonly bands: ReadonlyMap<number, number>;
}

/** The requests that one side consists of. */
export interface SideMix {
  readonly parts: readonly MixPart[];
  readonly sizes: readonly SizePart[];
}

/** Two sides as if B had the mix of A. */
export interface LikeWithLike {
  /** Sentences on what differs; none where the mixes agree. */
  readonly sentences: readonly string[];
  /** Durations of B, weighted to the mix of A; undefined where the mixes agree, or have nothing in common. */
  readonly weighted: TDigest | undefined;
}

/**
 * | number    | unit                | why
 * |-----------|---------------------|------------------------------------------------------
 * | least     | share of requests   | less moves no quantile that is shown by much
 * | byChance  | standard deviations | of the share of the side with fewer requests
 * | sentences | sentences           | the largest differences suffice
 */
const differing = { least: 0.03, byChance: 4, sentences: 5 } as const;

interface Difference {
  readonly label: string;
  readonly ofA: number;
  readonly ofB: number;
}

/**
 * Says in which request types, regions and sizes two sides differ, and weights the requests of B to the mix of A.
 * Types and regions come first, each pair of them as A has it. Where only sizes differ, requests of B are weighted
 * by the band of their total: by how much more frequent the band would be if B had the sizes of A.
 */
export function likeWithLike(a: SideMix, b: SideMix): LikeWithLike {
  const types = differences('request type', a.parts, b.parts, ({ requestType }) => requestType);
  const regions = differences('region', a.parts, b.parts, ({ region }) => region);
  const facet = sizeFacet(a.sizes, b.sizes);
  const [sizesA, sizesB] = [a, b].map(({ sizes }) => sizes.filter((size) => size.facet === facet));
  const sizes = differences(facet, sizesA ?? [], sizesB ?? [], ({ value }) => value);
  const all = [...types, ...regions, ...sizes];
  const sentences = all
    .toSorted((x, y) => sizeOf(y) - sizeOf(x) || y.ofB - y.ofA - (x.ofB - x.ofA))
    .slice(0, differing.sentences)
    .map(({ label, ofA, ofB }) => `${label}: ${formatShare(ofB)} of B, ${formatShare(ofA)} of A.`);
  if (types.length > 0 || regions.length > 0) {
    return { sentences, weighted: weightedByPart(a.parts, b.parts) };
  }
  if (sizes.length === 0) return { sentences, weighted: undefined };
  return { sentences, weighted: weightedBySize(b.parts, sizesA ?? [], sizesB ?? []) };
}

/** The requests in which two sides differ, and the quantiles as if they did not. */
export function compareMixes(
  { quantiles }: Pick<Comparison, 'quantiles'>,
  mixes: readonly [a: SideMix, b: SideMix] | undefined,
): Pick<NamedComparison, 'mix' | 'like_with_like'> {
  if (mixes === undefined) return { mix: [], like_with_like: null };
  const { sentences, weighted } = likeWithLike(...mixes);
  if (weighted === undefined) return { mix: sentences, like_with_like: null };
  const like_with_like = quantiles.map(({ q, baseline_ms }) => {
    const ms = weighted.quantile(q);
    const candidate_ms = Number.isFinite(ms) ? ms : null;
    const isKnown = candidate_ms !== null && baseline_ms !== null && baseline_ms > 0;
    return { q, candidate_ms, baseline_ms, ratio: isKnown ? candidate_ms / baseline_ms : null };
  });
  return { mix: sentences, like_with_like };
}

const sizeOf = ({ ofA, ofB }: Difference) => Math.abs(ofB - ofA);

/** Values whose shares differ by more than chance, and by enough to matter. */
function differences<Part extends { readonly requests: number }>(
  name: string,
  a: readonly Part[],
  b: readonly Part[],
  nameOf: (part: Part) => string,
): Difference[] {
  const [allA, allB] = [sumOf(a), sumOf(b)];
  if (allA === 0 || allB === 0) return [];
  return [...new Set([...a, ...b].map(nameOf))].flatMap((value) => {
    const share = (parts: readonly Part[], all: number) =>
      sumOf(parts.filter((part) => nameOf(part) === value)) / all;
    const [ofA, ofB] = [share(a, allA), share(b, allB)];
    const mean = (ofA + ofB) / 2;
    const chance = differing.byChance * Math.sqrt((mean * (1 - mean)) / Math.min(allA, allB));
    if (Math.abs(ofB - ofA) <= Math.max(differing.least, chance)) return [];
    return [{ label: `${name} ${value === '' ? '(none)' : value}`, ofA, ofB }];
  });
}

function sumOf(parts: readonly { readonly requests: number }[]): number {
  return parts.reduce((sum, { requests }) => sum + requests, 0);
}

/** The size that most requests of both sides have. */
function sizeFacet(a: readonly SizePart[], b: readonly SizePart[]): string {
  const least = (facet: string) =>
    Math.min(...[a, b].map((sizes) => sumOf(sizes.filter((size) => size.facet === facet))));
  const facets = [...new Set([...a, ...b].map(({ facet }) => facet))].sort();
  return facets.toSorted((x, y) => least(y) - least(x))[0] ?? '';
}

/** Each part of B as often as A has it. Parts that only one side has are left out. */
function weightedByPart(a: readonly MixPart[], b: readonly MixPart[]): TDigest | undefined {
  const digests = b.flatMap(({ requestType, region, requests, total }) => {
    const same = a.find((part) => part.requestType === requestType && part.region === region);
    if (same === undefined || requests === 0 || total.size === 0) return [];
    return [reweighted(total, () => same.requests / requests)];
  });
  return digests.length === 0 ? undefined : TDigest.merge(digests, mergedCentroids);
}

function weightedBySize(
  parts: readonly MixPart[],
  sizesA: readonly SizePart[],
  sizesB: readonly SizePart[],
): TDigest | undefined {
  const allA = sumOf(sizesA);
  const now = new Map<number, number>();
  const wanted = new Map<number, number>();
  for (const { value, requests, bands } of sizesB) {
    const share = (sizesA.find((size) => size.value === value)?.requests ?? 0) / allA;
    const all = [...bands.values()].reduce((sum, n) => sum + n, 0);
    for (const [band, n] of bands) {
      now.set(band, (now.get(band) ?? 0) + n);
      if (requests > 0) wanted.set(band, (wanted.get(band) ?? 0) + (share * n) / all);
    }
  }
  const allB = [...now.values()].reduce((sum, n) => sum + n, 0);
  const factorOf = (ms: number) => {
    const n = now.get(bandOf(ms)) ?? 0;
    return n === 0 ? 1 : ((wanted.get(bandOf(ms)) ?? 0) * allB) / n;
  };
  const digests = parts
    .filter(({ total }) => total.size > 0)
    .map(({ total }) => reweighted(total, factorOf));
  const merged = digests.filter(({ size }) => size > 0);
  return merged.length === 0 ? undefined : TDigest.merge(merged, mergedCentroids);
}

/** A digest whose values weigh a factor more or less; what weighs nothing is left out. */
function reweighted(digest: TDigest, factorOf: (ms: number) => number): TDigest {
  const means: number[] = [];
  const weights: number[] = [];
  for (const [i, ms] of [...digest.means].entries()) {
    const weight = (digest.weights[i] ?? 0) * factorOf(ms);
    if (!(weight > 0)) continue;
    means.push(ms);
    weights.push(weight);
  }
  return TDigest.fromCentroids(means, weights);
}
