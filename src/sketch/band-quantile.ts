import { bandFromMs } from './band.ts';

/** Quantile of durations of which only the bands are known, in milliseconds. */
export interface BandQuantile {
  /** As if durations were spread evenly over their band. */
  readonly ms: number;
  /** Edges of the band that the true quantile lies in. */
  readonly lowMs: number;
  readonly highMs: number;
}

/**
 * Quantile of requests by the band of their duration. A band is 14 to 25 % wide, so `ms` is that near.
 *
 * Cost: a sort of the bands.
 *
 * @param bands requests by band, in any order.
 * @param q in [0, 1].
 * @returns undefined without requests.
 */
export function bandQuantile(
  bands: Iterable<readonly [band: number, requests: number]>,
  q: number,
): BandQuantile | undefined {
  const sorted = [...bands].filter(([, requests]) => requests > 0).sort(([a], [b]) => a - b);
  const rank = q * sorted.reduce((sum, [, requests]) => sum + requests, 0);
  let before = 0;
  for (const [i, [band, requests]] of sorted.entries()) {
    const isLast = i === sorted.length - 1;
    if (before + requests >= rank || isLast) {
      const [lowMs, highMs] = [bandFromMs(band), bandFromMs(band + 1)];
      const part = Math.min(1, (rank - before) / requests);
      return { ms: lowMs + (highMs - lowMs) * part, lowMs, highMs };
    }
    before += requests;
  }
  return undefined;
}
