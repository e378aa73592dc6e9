/** A count and its probability. */
export interface WeightedCount {
  readonly count: number;
  readonly weight: number;
}

/** Part of the largest probability below which a count is left out. */
const negligible = 1e-6;

/**
 * The number of slow requests among `drawn` of `requests`, of which `slow` are slow: hypergeometric. So the
 * version with more requests counts as if it had as few as the other. A fraction of `slow`, which
 * interpolation in a digest makes, is carried along.
 *
 * Cost: O(deviation) to sum, at most some 20 counts returned: of a wide distribution every n-th one.
 */
export function thinnedCounts(slow: number, requests: number, drawn: number): WeightedCount[] {
  if (drawn >= requests) return [{ count: slow, weight: 1 }];
  const whole = Math.floor(slow);
  const fast = requests - whole;
  const rest = ((slow - whole) * drawn) / requests;
  const mean = (whole * drawn) / requests;
  const variance = (mean * (fast / requests) * (requests - drawn)) / requests;
  const [least, most] = [Math.max(0, drawn - fast), Math.min(whole, drawn)];
  const next = (j: number) => ((whole - j) * (drawn - j)) / ((j + 1) * (fast - drawn + j + 1));
  return lattice(mean, variance, least, most, next).map(({ count, weight }) => ({
    count: Math.min(drawn, count + rest),
    weight,
  }));
}

/**
 * The number of successes in `trials` of probability `p`: binomial. For extra failures that the baseline is
 * credited with. As above, of a wide distribution every n-th count.
 */
export function binomialCounts(trials: number, p: number): WeightedCount[] {
  if (!(p > 0)) return [{ count: 0, weight: 1 }];
  if (p >= 1) return [{ count: trials, weight: 1 }];
  const odds = p / (1 - p);
  const next = (j: number) => ((trials - j) / (j + 1)) * odds;
  return lattice(trials * p, trials * p * (1 - p), 0, trials, next);
}

/**
 * Counts from the middle of a distribution outwards, every half deviation at the widest.
 *
 * @param next probability of j + 1 over that of j
 */
function lattice(
  mean: number,
  variance: number,
  least: number,
  most: number,
  next: (j: number) => number,
): WeightedCount[] {
  const stride = Math.max(1, Math.floor(Math.sqrt(variance) / 2));
  // Rounding may put the mean of what is certain just below it.
  const middle = Math.min(most, Math.max(least, Math.floor(mean)));
  const counts = [{ count: middle, weight: 1 }];
  let weight = 1;
  for (let j = middle; weight > negligible && j < most; j++) {
    weight *= next(j);
    if ((j + 1 - middle) % stride === 0) counts.push({ count: j + 1, weight });
  }
  weight = 1;
  for (let j = middle; weight > negligible && j > least; j--) {
    weight /= next(j - 1);
    if ((middle - j + 1) % stride === 0) counts.push({ count: j - 1, weight });
  }
  let sum = 0;
  for (const each of counts) sum += each.weight;
  for (const each of counts) each.weight /= sum;
  return counts;
}
