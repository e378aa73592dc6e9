import type { ClickHouseClient } from '@clickhouse/client';
import { baseWindowMs } from '../../window/chunk-accumulator.ts';
import { readQuery } from '../read-query.ts';
import type { PartitionProgress } from './window-progress.ts';

/** Reads the progress of a group's partitions from the ledger. */
export async function readProgress(
  client: ClickHouseClient,
  groupId: string,
): Promise<PartitionProgress[]> {
  const result = await client.query({
    query: readQuery('progress'),
    query_params: { groupId },
    format: 'JSONEachRow',
  });
  const rows =
    await result.json<
      Record<
        'topic' | 'partition' | 'watermark_ms' | 'flushed_ms' | 'newest_window_ms' | 'end_offset',
        string
      >
    >();
  return rows.map((row) => ({
    topic: row.topic,
    partition: Number(row.partition),
    watermarkMs: Number(row.watermark_ms),
    flushedMs: Number(row.flushed_ms),
    newestMs: Math.min(Number(row.watermark_ms), Number(row.newest_window_ms) + baseWindowMs),
    endOffset: Number(row.end_offset),
  }));
}
