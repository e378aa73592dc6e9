import type { EventRecord } from './event-record.ts';

/**
 * Event time of a request: when it ended, in whole milliseconds since the Unix epoch. That is its start
 * plus its total; for a partial event without a total, its start plus the sum of its stages.
 *
 * An event is published when its request has ended. By its start a slow request would always be late, and
 * would miss the window that is judged. Allocates nothing; a few ns.
 */
export function completionMs({ tsMs, totalMs, stageMs, stageCount }: EventRecord): number {
  if (!Number.isNaN(totalMs)) return Math.floor(tsMs + totalMs);
  let sumMs = 0;
  for (let i = 0; i < stageCount; i++) sumMs += stageMs[i] as number;
  return Math.floor(tsMs + sumMs);
}
