import { formatCount, quantileName } from './format.ts';

/** Requests beyond a quantile that make it worth showing as one. */
const leastBeyond = 20;

/** Requests that a quantile needs: 2,000 for p99. */
export function requestsNeeded(q: number): number {
  return Math.ceil(Number((leastBeyond / (1 - q)).toFixed(6)));
}

/** True if so few requests lie beyond the quantile that it is marked: hollow on pages, by a star in tables. */
export function isHollow(q: number, requests: number): boolean {
  return requests < requestsNeeded(q);
}

/** `34 requests: p99 needs 2,000`. @param noun what is counted */
export function hollowReason(q: number, requests: number, noun = 'request'): string {
  const counted = `${formatCount(Math.round(requests))} ${noun}${requests === 1 ? '' : 's'}`;
  return `${counted}: ${quantileName(q)} needs ${formatCount(requestsNeeded(q))}`;
}
