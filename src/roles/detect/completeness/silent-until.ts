import type { PartitionProgress } from '../../../sink/windows/window-progress.ts';

/** Traffic is live, not a replay, if events are stored within this time. */
const liveWithinMs = 5 * 60_000;

/**
 * Wall-clock time up to which no partition received events; undefined if a partition is not idle, or if its
 * last events were not live.
 *
 * @param nowMs of the clock that stamped `flushedMs`.
 * @param idleMs time by which a partition's events are stored.
 */
export function silentUntil(
  partitions: readonly PartitionProgress[],
  nowMs: number,
  idleMs: number,
): number | undefined {
  const started = partitions.filter(({ watermarkMs }) => watermarkMs > 0);
  if (started.length === 0) return undefined;
  const flushedMs = Math.max(...started.map((partition) => partition.flushedMs));
  const watermarkMs = Math.max(...started.map((partition) => partition.watermarkMs));
  if (nowMs - flushedMs < idleMs || flushedMs - watermarkMs > liveWithinMs) return undefined;
  return nowMs - idleMs;
}
