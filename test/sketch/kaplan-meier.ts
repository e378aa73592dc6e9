/** A request: how long it took, or, if it was given up, how long it had taken. */
export interface Observed {
  readonly ms: number;
  readonly isCensored: boolean;
}

/**
 * Estimator of Kaplan and Meier on raw requests, in its textbook form: the least finished duration that at
 * most 1 − q of the requests outlast; undefined where that lies beyond the last finished one.
 */
export function kaplanMeier(observed: readonly Observed[], q: number): number | undefined {
  // At equal times those that finished come first.
  const sorted = observed.toSorted(
    (a, b) => a.ms - b.ms || Number(a.isCensored) - Number(b.isCensored),
  );
  let survival = 1;
  for (let i = 0; i < sorted.length; ) {
    const { ms } = sorted[i] as Observed;
    const running = sorted.length - i;
    let finished = 0;
    for (; i < sorted.length && sorted[i]?.ms === ms; i++) {
      if (sorted[i]?.isCensored === false) finished++;
    }
    survival *= 1 - finished / running;
    if (finished > 0 && survival <= 1 - q + 1e-12) return ms;
  }
  return undefined;
}

/** The quantile if each request that was given up had ended there: what is certain of the true one. */
export function leastQuantile(observed: readonly Observed[], q: number): number {
  const sorted = observed.map(({ ms }) => ms).sort((a, b) => a - b);
  return sorted[Math.ceil(q * sorted.length - 1e-9) - 1] as number;
}
