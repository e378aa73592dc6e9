import { TDigest } from '../sketch/t-digest.ts';

/**
 * How much longer the candidate's requests may take than the baseline's: the larger of a ratio and a
 * difference.
 */
export interface Margin {
  readonly ratio: number;
  /** In milliseconds. */
  readonly addedMs: number;
}

/** The longest duration of the candidate that is no worse than one of the baseline. */
export function withMargin(ms: number, { ratio, addedMs }: Margin): number {
  return Math.max(ms * ratio, ms + addedMs);
}

/** The candidate's durations as if the margin were used up: what is compared with the baseline's. */
export function lessMargin(digest: TDigest, { ratio, addedMs }: Margin): TDigest {
  if (ratio === 1 && addedMs === 0) return digest;
  return TDigest.fromCentroids(
    digest.means.map((ms) => Math.min(ms / ratio, ms - addedMs)),
    digest.weights,
  );
}
