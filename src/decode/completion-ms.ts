import type { DecodedEvent } from './decoded-event.ts';

/**
 * Event time of a request: its end, in whole milliseconds since the Unix epoch. That is its start plus its
 * total. A partial event ends after the sum of its parts, or with its last milestone if that is later.
 *
 * An event is published when its request has ended. By its start a slow request would always be late, and
 * would miss the window that is evaluated. Allocates nothing; a few ns.
 */
export function completionMs({ tsMs, totalMs, leastMs }: DecodedEvent): number {
  return Math.floor(tsMs + (Number.isNaN(totalMs) ? leastMs : totalMs));
}
