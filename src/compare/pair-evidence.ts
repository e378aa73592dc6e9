import { bets } from './compare-options.ts';
import { thinnedCounts, type WeightedCount } from './thinned-counts.ts';

/** Slow requests, or failed ones, among the requests of one version in one minute. */
export interface SlowCount {
  readonly slow: number;
  readonly requests: number;
}

const { shifts } = bets;
const once: readonly WeightedCount[] = [{ count: 0, weight: 1 }];

/**
 * Evidence that the first of two versions has more slow requests than the second: an e-process, minute by
 * minute.
 *
 * If the versions are equal, the minute would be as likely with the two swapped. So the score, which changes
 * its sign with the swap, is as likely to be positive as negative. A bet pays 2 / (1 + exp(-score)): with
 * its mirror image 2 in all, 1 on average. The product over the minutes is then a nonnegative martingale,
 * and it ever reaches 1/α with a probability of at most α (Ville, 1939). Nothing is assumed of how
 * much minutes vary.
 *
 * The score is the difference of the log odds over the variance that a bet expects. It only grows with the
 * first count and falls with the second, so that what is less slow than equal pays less than 1 on average.
 * Sources: Efron, "Student's t-test under symmetry conditions" (1969); Ramdas, Ruf, Larsson and Koolen,
 * "Admissible anytime-valid sequential inference must rely on nonnegative martingales" (2020), section 5.
 */
export class PairEvidence {
  readonly #logs = new Float64Array(shifts.length);
  readonly #payments = new Float64Array(shifts.length);

  /**
   * Adds a minute. The version with more requests is thinned to as many as the other has: what is left is
   * exchangeable where the versions are equal. The bet's payment is averaged over which requests are left.
   *
   * @param credit slow requests that the first one has in addition: it is as if it had them.
   */
  observe(first: SlowCount, second: SlowCount, credit: readonly WeightedCount[] = once): void {
    const n = Math.min(first.requests, second.requests);
    if (!(n > 0)) return;
    const firsts = thinnedCounts(first.slow, first.requests, n);
    const seconds = thinnedCounts(second.slow, second.requests, n);
    const payments = this.#payments.fill(0);
    for (const a of firsts) {
      for (const c of credit) {
        const slow = Math.min(n, a.count + c.count);
        for (const b of seconds) {
          const score = scoreOf(slow, b.count, n);
          const weight = a.weight * b.weight * c.weight;
          for (let i = 0; i < shifts.length; i++) {
            const payment = 2 / (1 + Math.exp(-(shifts[i] as number) * score));
            payments[i] = (payments[i] as number) + weight * payment;
          }
        }
      }
    }
    for (let i = 0; i < shifts.length; i++) {
      this.#logs[i] = (this.#logs[i] as number) + Math.log(payments[i] as number);
    }
  }

  /** Natural logarithm of the evidence. 0 before any minute. */
  get log(): number {
    return logSum(this.#logs) - Math.log(shifts.length);
  }
}

/** Natural logarithm of the sum of values that are given by theirs; -Infinity without any. */
export function logSum(logs: ArrayLike<number>): number {
  let most = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < logs.length; i++) most = Math.max(most, logs[i] as number);
  if (most === Number.NEGATIVE_INFINITY) return most;
  let sum = 0;
  for (let i = 0; i < logs.length; i++) sum += Math.exp((logs[i] as number) - most);
  return most + Math.log(sum);
}

/** Score of `a` against `b` slow ones among `n` requests each, per shift that is bet on. */
function scoreOf(a: number, b: number, n: number): number {
  const logOdds = Math.log(((a + 0.5) * (n - b + 0.5)) / ((b + 0.5) * (n - a + 0.5)));
  const sum = a + b;
  const variance = 2 * bets.deviation ** 2 + 4 / (sum + 1) + 4 / (2 * n - sum + 1);
  return (2 * logOdds) / variance;
}
