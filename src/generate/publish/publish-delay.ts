import type { Random } from '../random.ts';

/** Delay of an event from the end of its request to the broker. The values are chosen, not fitted. */
export const publishDelay = {
  /** Network and broker: lognormal. The median of a produce request in one data centre. */
  networkMedianMs: 3,
  networkSigma: 0.7,
  /** A producer's linger: an event waits for its batch, uniform up to this. */
  lingerMs: 100,
  /** A retried send, or a garbage collection in the producer: exponential, for this share of events. */
  retryShare: 0.001,
  retryMeanMs: 400,
  /** Longest delay. */
  mostMs: 5_000,
} as const;

/** Draws the delay of one event, in milliseconds. */
export function drawPublishDelay(random: Random): number {
  const { networkMedianMs, networkSigma, lingerMs, retryShare, retryMeanMs, mostMs } = publishDelay;
  const networkMs = random.lognormal(networkMedianMs, networkSigma);
  const lingeredMs = lingerMs * random.uniform();
  const retriedMs = random.chance(retryShare) ? random.exponential(retryMeanMs) : 0;
  return Math.min(mostMs, networkMs + lingeredMs + retriedMs);
}
