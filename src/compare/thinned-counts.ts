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
  const rest = ((slow - whole) * drawn) / requests;
  const mean = (whole * drawn) / requests;
  const deviation = Math.sqrt((mean * (1 - whole / requests) * (requests - drawn)) / requests);
  const stride = Math.max(1, Math.floor(deviation / 2));
  const middle = Math.floor(mean);
  const counts: { count: number; weight: number }[] = [{ count: middle + rest, weight: 1 }];
  const ratio = (j: number) =>
    ((whole - j) * (drawn - j)) / ((j + 1) * (requests - whole - drawn + j + 1));
  let weight = 1;
  for (let j = middle; weight > negligible && j < Math.min(whole, drawn); j++) {
    weight *= ratio(j);
    if ((j + 1 - middle) % stride === 0) counts.push({ count: j + 1 + rest, weight });
  }
  weight = 1;
  for (let j = middle; weight > negligible && j > Math.max(0, drawn - (requests - whole)); j--) {
    weight /= ratio(j - 1);
    if ((middle - j + 1) % stride === 0) counts.push({ count: j - 1 + rest, weight });
  }
  const sum = counts.reduce((total, each) => total + each.weight, 0);
  for (const each of counts) each.weight /= sum;
  return counts;
}

/**
 * The number of successes in `trials` of probability `p`: binomial. For extra failures that the baseline is
 * credited with. As above, of a wide distribution every n-th count.
 */
export function binomialCounts(trials: number, p: number): WeightedCount[] {
  if (p <= 0) return [{ count: 0, weight: 1 }];
  if (p >= 1) return [{ count: trials, weight: 1 }];
  const middle = Math.floor(trials * p);
  const stride = Math.max(1, Math.floor(Math.sqrt(trials * p * (1 - p)) / 2));
  const counts: { count: number; weight: number }[] = [{ count: middle, weight: 1 }];
  const odds = p / (1 - p);
  let weight = 1;
  for (let j = middle; weight > negligible && j < trials; j++) {
    weight *= ((trials - j) / (j + 1)) * odds;
    if ((j + 1 - middle) % stride === 0) counts.push({ count: j + 1, weight });
  }
  weight = 1;
  for (let j = middle; weight > negligible && j > 0; j--) {
    weight /= ((trials - j + 1) / j) * odds;
    if ((middle - j + 1) % stride === 0) counts.push({ count: j - 1, weight });
  }
  const sum = counts.reduce((total, each) => total + each.weight, 0);
  for (const each of counts) each.weight /= sum;
  return counts;
}
