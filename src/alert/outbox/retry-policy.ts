import type { Answer } from '../receiver.ts';

/**
 * The wait after an attempt that was not accepted.
 *
 * | value | unit | why |
 * |---|---|---|
 * | 1/180 of the outage | share | after half an hour away a receiver is tried within 10 s of its return |
 * | 1 s to 5 min | ms | a short outage costs seconds, a long one few requests |
 * | 5 min | ms | a mistake in the configuration is corrected by people |
 * | 15 min | ms | longest `Retry-After` that is obeyed; see `HttpSender` |
 */
const retryTuned = {
  shareOfOutage: 1 / 180,
  leastMs: 1_000,
  mostMs: 5 * 60_000,
  rejectedMs: 5 * 60_000,
  /** Waits are spread over the upper part of their length from here on. */
  jitterFrom: 0.75,
} as const;

/**
 * Wait before the next attempt at a receiver.
 *
 * @param outageMs how long the receiver has accepted nothing.
 * @param random in [0, 1).
 */
export function retryDelayMs(
  { outcome, retryAfterMs = 0 }: Pick<Answer, 'outcome' | 'retryAfterMs'>,
  outageMs: number,
  random: number,
): number {
  const { shareOfOutage, leastMs, mostMs, rejectedMs, jitterFrom } = retryTuned;
  const wholeMs =
    outcome === 'rejected'
      ? rejectedMs
      : Math.min(mostMs, Math.max(leastMs, outageMs * shareOfOutage));
  return Math.max(retryAfterMs, wholeMs * (jitterFrom + (1 - jitterFrom) * random));
}

/** Wait after an attempt that people may see though nobody answered: 16, 32, 64 s … 5 min. */
export function unansweredDelayMs(unanswered: number, random: number): number {
  return unanswered === 0 ? 0 : ownDelayMs(unanswered + 3, random);
}

/** Wait before the next attempt of one delivery that fails while others are accepted: 1, 2, 4 s … 5 min. */
export function ownDelayMs(attempts: number, random: number): number {
  const { leastMs, mostMs, jitterFrom } = retryTuned;
  const wholeMs = Math.min(mostMs, leastMs * 2 ** Math.min(attempts, 20));
  return wholeMs * (jitterFrom + (1 - jitterFrom) * random);
}
