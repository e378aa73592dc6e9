import type { PartitionProgress } from '../../../sink/windows/window-progress.ts';

/** Traffic is of now, and not a replay of what was, where its events are stored within so long. */
const liveWithinMs = 5 * 60_000;

/**
 * Up to when it is sure, by the clock, that no event came in any partition; undefined where one is not
 * idle, or where what came last was not of its time.
 *
 * @param nowMs of the clock that stamped `flushedMs`.
 * @param idleMs what a partition had is stored by then.
 */
export function silentUntil(
  partitions: readonly PartitionProgress[],
  nowMs: number,
  idleMs: number,
): number | undefined {
  const begun = partitions.filter(({ watermarkMs }) => watermarkMs > 0);
  if (begun.length === 0) return undefined;
  const flushedMs = Math.max(...begun.map((partition) => partition.flushedMs));
  const watermarkMs = Math.max(...begun.map((partition) => partition.watermarkMs));
  if (nowMs - flushedMs < idleMs || flushedMs - watermarkMs > liveWithinMs) return undefined;
  return nowMs - idleMs;
}
