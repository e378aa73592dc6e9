import type { Comparison, NamedComparison } from '../../compare/comparison.ts';
import { likeWithLike, type SideMix } from '../../compare/like-with-like.ts';

/** In what requests two sides differ, and the quantiles as if they did not. */
export function compareMixes(
  { quantiles }: Comparison,
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
