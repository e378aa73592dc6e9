import { chunkSettingsOf } from '../../src/ingest/chunk/chunk-settings.ts';
import type { ChunkCounts, Intent } from '../../src/ingest/commit-metadata.ts';
import { testConfig } from './test-config.ts';

/** An intent of the test configuration; the counts matter where the tables are read. */
export function testIntent(
  endOffset: number,
  nowMs: number,
  counts: Partial<ChunkCounts> = {},
): Intent {
  return {
    endOffset,
    nowMs,
    settings: chunkSettingsOf(testConfig()),
    counts: {
      firstTimestampMs: 1,
      lastTimestampMs: 2,
      watermarkMs: 77,
      leaderEpoch: 3,
      records: 10,
      consumed: 10,
      aggregated: 10,
      rejected: 0,
      late: 0,
      overflow: 0,
      unmapped: 0,
      weight: 0,
      lateMerged: 0,
      removedEvents: 0,
      removedOffsets: 0,
      rows: { rowCount: 1, samples: 1, windowMinMs: 0, windowMaxMs: 0 },
      ...counts,
    },
  };
}
