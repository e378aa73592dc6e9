import { storedQuantiles } from '../../src/sketch/stored-quantiles.ts';

const quantiles = [0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999];

export interface WorstError {
  /** Largest |estimate - exact| / exact. */
  readonly value: number;
  /** The same at the stored quantiles. */
  readonly stored: number;
  /** Largest distance from the requested rank to the estimate's ranks, as a part of 1-q. */
  readonly rank: number;
  /** Largest, over the quantiles, of the better of value / 1 % and rank / 5 %: at most 1 is good. */
  readonly score: number;
}

/**
 * Compares estimated quantiles with the exact ones (nearest rank) of sorted values, from p50 to
 * p99.9 wherever at least 20 values lie above.
 */
export function worstError(sorted: Float64Array, quantile: (q: number) => number): WorstError {
  const n = sorted.length;
  let [value, stored, rank, score] = [0, 0, 0, 0];
  for (const q of quantiles) {
    const tail = n * (1 - q);
    if (tail < 20 - 1e-6) continue;
    const asked = q * n;
    const exact = sorted[Math.ceil(asked - 1e-6) - 1] ?? Number.NaN;
    const estimate = quantile(q);
    const valueError = Math.abs(estimate - exact) / exact;
    const below = countWhile(sorted, (x) => x < estimate);
    const upTo = countWhile(sorted, (x) => x <= estimate);
    const rankError = Math.max(below - asked, asked - upTo, 0) / tail;
    value = Math.max(value, valueError);
    if (storedQuantiles.some((each) => each === q)) stored = Math.max(stored, valueError);
    rank = Math.max(rank, rankError);
    score = Math.max(score, Math.min(valueError / 0.01, rankError / 0.05));
  }
  return { value, stored, rank, score };
}

/** Counts the leading elements that satisfy a condition; those that do come first. */
function countWhile(sorted: Float64Array, holds: (x: number) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(sorted[middle] ?? Number.NaN)) low = middle + 1;
    else high = middle;
  }
  return low;
}
