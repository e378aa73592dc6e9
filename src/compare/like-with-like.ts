import { formatShare } from '../contract/format.ts';
import { valueText } from '../series/value-text.ts';
import { bandOf } from '../sketch/band.ts';
import { TDigest } from '../sketch/t-digest.ts';
import { mergedCentroids } from './compare-options.ts';
import type { Comparison, NamedComparison } from './comparison.ts';
import { type SizePart, sizeWeights } from './size-weights.ts';

/** Requests of one type in one region. */
export interface MixPart {
  readonly requestType: string;
  readonly region: string;
  readonly requests: number;
  readonly total: TDigest;
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
  readonly weighted: Weighted | undefined;
}

/** Durations that weigh more or less. */
export interface Weighted {
  readonly digest: TDigest;
  /** Requests of equal weights whose quantiles vary as much by chance (Kish 1965). */
  readonly effectiveRequests: number;
}

/**
 * | number    | unit                | why
 * |-----------|---------------------|------------------------------------------------------
 * | least     | share of requests   | less moves no quantile that is shown by much
 * | byChance  | standard deviations | of the share of the side with fewer requests
 * | sentences | sentences           | the largest differences suffice
 * | beyond    | requests            | effective ones beyond a quantile: with fewer it is chance
 */
const differing = { least: 0.03, byChance: 4, sentences: 5, beyond: 3 } as const;

interface Difference {
  readonly label: string;
  readonly ofA: number;
  readonly ofB: number;
}

/**
 * Says in which request types, regions and sizes two sides differ, and weights the requests of B to the mix of A.
 * Types and regions come first, each pair of them as A has it. Where only sizes differ, requests of B are weighted
 * by the band of their total, by the size of which most requests differ: how much more frequent the band would be
 * if B had the sizes of A.
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
  return { sentences, weighted: atSizes(facet, sizesA ?? [], sizesB ?? [], b.parts) };
}

/**
 * Requests of B as if they had the sizes of A, by one facet. Accuracy: `sizeWeightsError`.
 *
 * @param parts all requests of B.
 * @returns undefined where the sizes agree.
 */
export function atSizes(
  facet: string,
  sizesA: readonly SizePart[],
  sizesB: readonly SizePart[],
  parts: readonly MixPart[],
): Weighted | undefined {
  if (!sizesDiffer(facet, sizesA, sizesB)) return undefined;
  const factorOf = sizeWeights(sizesA, sizesB);
  return joined(parts.map(({ total }) => reweighted(total, (ms) => factorOf(bandOf(ms)))));
}

/** True where two sides have other sizes by more than chance, and by enough to matter. */
export function sizesDiffer(
  facet: string,
  sizesA: readonly SizePart[],
  sizesB: readonly SizePart[],
): boolean {
  return differences(facet, sizesA, sizesB, ({ value }) => value).length > 0;
}

/** A quantile of weighted durations, in milliseconds; null where it is of too few effective requests. */
export function weightedQuantile(weighted: Weighted, q: number): number | null {
  const ms = weighted.digest.quantile(q);
  const hasEnough = (1 - q) * weighted.effectiveRequests >= differing.beyond;
  return Number.isFinite(ms) && hasEnough ? ms : null;
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
    const candidate_ms = weightedQuantile(weighted, q);
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
    return [{ label: `${name} ${valueText(value)}`, ofA, ofB }];
  });
}

function sumOf(parts: readonly { readonly requests: number }[]): number {
  return parts.reduce((sum, { requests }) => sum + requests, 0);
}

/** The size in which most requests of both sides differ. */
function sizeFacet(a: readonly SizePart[], b: readonly SizePart[]): string {
  const differingOf = (facet: string) => {
    const [ofA, ofB] = [a, b].map((sizes) => sizes.filter((size) => size.facet === facet));
    const [allA, allB] = [sumOf(ofA ?? []), sumOf(ofB ?? [])];
    const values = new Set([...(ofA ?? []), ...(ofB ?? [])].map(({ value }) => value));
    const shareOf = (sizes: readonly SizePart[] = [], all: number, value: string) =>
      sumOf(sizes.filter((size) => size.value === value)) / Math.max(1, all);
    const shares = [...values].map((value) =>
      Math.abs(shareOf(ofA, allA, value) - shareOf(ofB, allB, value)),
    );
    return Math.min(allA, allB) * shares.reduce((sum, share) => sum + share, 0);
  };
  const facets = [...new Set([...a, ...b].map(({ facet }) => facet))].sort();
  return facets.toSorted((x, y) => differingOf(y) - differingOf(x))[0] ?? '';
}

/** Each part of B as often as A has it. Parts that only one side has are left out. */
function weightedByPart(a: readonly MixPart[], b: readonly MixPart[]): Weighted | undefined {
  return joined(
    b.flatMap(({ requestType, region, requests, total }) => {
      const same = a.find((part) => part.requestType === requestType && part.region === region);
      if (same === undefined || requests === 0) return [];
      return [reweighted(total, () => same.requests / requests)];
    }),
  );
}

/** Durations whose weights are a factor more or less, and the sums of these weights. */
interface Reweighted {
  readonly digest: TDigest;
  readonly sum: number;
  readonly squares: number;
}

/** A digest whose values weigh a factor more or less; what weighs nothing is left out. */
function reweighted(digest: TDigest, factorOf: (ms: number) => number): Reweighted {
  const means: number[] = [];
  const weights: number[] = [];
  let [sum, squares] = [0, 0];
  for (const [i, ms] of [...digest.means].entries()) {
    const factor = factorOf(ms);
    const weight = (digest.weights[i] ?? 0) * factor;
    if (!(weight > 0)) continue;
    means.push(ms);
    weights.push(weight);
    sum += weight;
    squares += weight * factor;
  }
  return { digest: TDigest.fromCentroids(means, weights), sum, squares };
}

function joined(parts: readonly Reweighted[]): Weighted | undefined {
  const some = parts.filter(({ digest }) => digest.size > 0);
  if (some.length === 0) return undefined;
  const sumOfParts = (of: (part: Reweighted) => number) =>
    some.reduce((total, part) => total + of(part), 0);
  return {
    digest: TDigest.merge(
      some.map(({ digest }) => digest),
      mergedCentroids,
    ),
    effectiveRequests: sumOfParts(({ sum }) => sum) ** 2 / sumOfParts(({ squares }) => squares),
  };
}
