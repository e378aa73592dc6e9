import { TDigest } from '../sketch/t-digest.ts';

/** How much longer the candidate's requests may take than the baseline's. */
export interface Margin {
  readonly ratio: number;
  /** Difference that is allowed where the ratio allows less, in milliseconds. @default none */
  readonly addedMs?: number;
}

const none = Number.NEGATIVE_INFINITY;

/** The longest duration of the candidate that is no worse than one of the baseline. */
export function withMargin(ms: number, { ratio, addedMs = none }: Margin): number {
  return Math.max(ms * ratio, ms + addedMs);
}

/** The candidate's durations as if the margin were used up: what is compared with the baseline's. */
export function lessMargin(digest: TDigest, { ratio, addedMs = none }: Margin): TDigest {
  return TDigest.fromCentroids(
    digest.means.map((ms) => Math.min(ms / ratio, ms - addedMs)),
    digest.weights,
  );
}
