import type { ClickHouseClient } from '@clickhouse/client';
import type { Config } from '../../config/schema.ts';
import { baseWindowMs } from '../../window/chunk-accumulator.ts';
import { readRows } from '../client/read-query.ts';

/** Progress of a partition, from the ledger. */
export interface PartitionProgress {
  readonly topic: string;
  readonly partition: number;
  /** Event time that it has reached; 0 without a valid event. */
  readonly watermarkMs: number;
  /** Time at which its last chunk with a valid event was stored. */
  readonly flushedMs: number;
  /** Event time of that chunk's newest events, or up to a window later; never beyond the watermark. */
  readonly newestMs: number;
  /** Offset after the last stored record. */
  readonly endOffset: number;
}

/** Reads the progress of a group's partitions in one cluster, or ('') in any, from the ledger. */
export async function readProgress(
  client: ClickHouseClient,
  groupId: string,
  clusterId = '',
): Promise<PartitionProgress[]> {
  type Columns = 'topic' | 'watermark_ms' | 'flushed_ms' | 'newest_window_ms' | 'end_offset';
  const rows = await readRows<Record<Columns | 'partition', string>>(client, 'progress', {
    groupId,
    clusterId,
  });
  return rows.map((row) => ({
    topic: row.topic,
    partition: Number(row.partition),
    watermarkMs: Number(row.watermark_ms),
    flushedMs: Number(row.flushed_ms),
    newestMs: Math.min(Number(row.watermark_ms), Number(row.newest_window_ms) + baseWindowMs),
    endOffset: Number(row.end_offset),
  }));
}

/**
 * Event time up to which windows are complete: the lowest watermark of the partitions that are not idle.
 * Partitions without any valid event do not count, so that a producer of invalid events does not block the
 * detector. When all partitions are idle, everything stored is complete. The ledger alone shows no more; the
 * detector also asks Kafka. sql/queries/window_states.sql has the same rule, and a test compares them.
 *
 * @param nowMs of the clock that stamped `flushedMs`.
 * @returns -Infinity before the first stored chunk.
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

/** Time without a stored chunk after which a partition is idle, including the time to store one. */
export function idleAfterMs({ windows, ingest }: Pick<Config, 'windows' | 'ingest'>): number {
  return windows.idle_partition + ingest.flush_interval;
}

/** Time for reading and storing, on top of the flush interval. */
const storingMs = 5_000;

/** Time by which arrived records are normally stored. */
export function normalLagMs({ ingest }: Pick<Config, 'ingest'>): number {
  return ingest.flush_interval + storingMs;
}
