import type { DecodedEvent } from './decoded-event.ts';

/**
 * Event time of a request: its end, in whole milliseconds since the Unix epoch. That is its start plus its
 * total, or plus the sum of its stages for a partial event.
 *
 * An event is published when its request has ended. By its start a slow request would always be late, and
 * would miss the window that is evaluated. Allocates nothing; a few ns.
 */
export function completionMs({ tsMs, totalMs, stageMs, stageCount }: DecodedEvent): number {
  if (!Number.isNaN(totalMs)) return Math.floor(tsMs + totalMs);
  let sumMs = 0;
  for (let i = 0; i < stageCount; i++) sumMs += stageMs[i] as number;
  return Math.floor(tsMs + sumMs);
}
