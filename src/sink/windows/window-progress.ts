import type { Config } from '../../config/schema.ts';

/** How far a partition has come, from the ledger. */
export interface PartitionProgress {
  readonly topic: string;
  readonly partition: number;
  /** Event time it has reached; 0 where none of its events was good. */
  readonly watermarkMs: number;
  /** When its last chunk with a good event was stored. */
  readonly flushedMs: number;
  /** Event time of the newest events of that chunk, or up to a window later; never beyond the watermark. */
  readonly newestMs: number;
  /** Offset after the last record that is stored. */
  readonly endOffset: number;
}

/**
 * Event time up to which windows are complete: the least watermark of the partitions that are not
 * idle. An idle partition holds nothing back, nor does one without a single good event: a producer
 * of garbage must not blind the detector. When all are idle, what is there is all there is.
 * This is all that the ledger alone can say; the detector asks Kafka too.
 * sql/queries/window_states.sql says the same to users; a test holds them together.
 *
 * @param nowMs of the clock that stamped `flushedMs`.
 * @returns -Infinity when nothing was ever stored.
 */
export function completeUntil(
  partitions: readonly PartitionProgress[],
  nowMs: number,
  idleMs: number,
): number {
  const begun = partitions.filter((partition) => partition.watermarkMs > 0);
  const active = begun.filter((partition) => nowMs - partition.flushedMs < idleMs);
  if (active.length > 0) return Math.min(...active.map((partition) => partition.watermarkMs));
  return Math.max(Number.NEGATIVE_INFINITY, ...begun.map(({ watermarkMs }) => watermarkMs));
}

/** A partition that has stored nothing for so long is idle: what it last had took a while to store. */
export function idleAfterMs({ windows, ingest }: Pick<Config, 'windows' | 'ingest'>): number {
  return windows.idle_partition + ingest.flush_interval;
}

/** Beyond the flush interval, for reading and storing. */
const storingMs = 5_000;

/** What has arrived is stored by then while all is well. */
export function normalLagMs({ ingest }: Pick<Config, 'ingest'>): number {
  return ingest.flush_interval + storingMs;
}
