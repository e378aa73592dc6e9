import { chunkSettingsOf } from '../../src/ingest/chunk-settings.ts';
import type { ChunkFigures, Intent } from '../../src/ingest/commit-note.ts';
import { testConfig } from './test-config.ts';

/** An intent of the test configuration; the figures matter where the tables are asked. */
export function testIntent(
  endOffset: number,
  nowMs: number,
  figures: Partial<ChunkFigures> = {},
): Intent {
  return {
    endOffset,
    nowMs,
    settings: chunkSettingsOf(testConfig()),
    figures: {
      firstTimestampMs: 1,
      lastTimestampMs: 2,
      watermarkMs: 77,
      records: 10,
      consumed: 10,
      aggregated: 10,
      rejected: 0,
      late: 0,
      overflow: 0,
      lateMerged: 0,
      rows: { rowCount: 1, samples: 1, windowMinMs: 0, windowMaxMs: 0 },
      ...figures,
    },
  };
}
