import type { Logger } from '../base/telemetry/log.ts';
import { type Chunk, chunkToken, type LedgerEntry } from '../sink/chunks/chunk.ts';
import { removedText } from '../sink/ledger-problems.ts';
import type { ChunkCounts, Intent } from './commit-metadata.ts';
import type { PersistContext } from './persist.ts';

/**
 * A chunk that a predecessor began, with the predecessor's identity. It also holds what its intent had
 * counted and is gone from Kafka by now. The chunk itself where no predecessor began it.
 */
export function madeAgain(
  chunk: Chunk,
  inherited: Intent | undefined,
  log: Pick<Logger, 'info'>,
): Chunk {
  if (inherited === undefined) return chunk;
  const { counts, endOffset } = inherited;
  log.info(
    { token: chunkToken(chunk), records: chunk.records, records_before: counts.records },
    'a chunk that a predecessor began is made again',
  );
  const { firstTimestampMs, lastTimestampMs, watermarkMs, leaderEpoch } = counts;
  const identity = { endOffset, firstTimestampMs, lastTimestampMs, watermarkMs, leaderEpoch };
  return { ...chunk, ...identity, ...removedOf(chunk, counts) };
}

/** Of a range that nobody had read, the intent says as little as the range: it may have held anything. */
function removedOf(
  chunk: Chunk,
  { records, consumed, removedEvents, removedOffsets }: ChunkCounts,
): Pick<Chunk, 'removedEvents' | 'removedOffsets'> {
  if (chunk.records >= records) return { removedEvents, removedOffsets };
  return { removedEvents: Math.max(0, consumed + removedEvents - chunk.consumed), removedOffsets };
}

/** Says what Kafka removed before it was stored, once the ledger has it: a line of the log, and a metric. */
export function reportRemoved(entry: LedgerEntry, { log, metrics }: PersistContext): void {
  const { topic, partition, startOffset, endOffset, removedEvents, removedOffsets } = entry;
  if (removedEvents + removedOffsets === 0) return;
  metrics.eventsRemoved.inc({ topic, count: 'exact' }, removedEvents);
  metrics.eventsRemoved.inc({ topic, count: 'at_most' }, removedOffsets);
  log.error(
    {
      ...{ topic, partition, start_offset: startOffset, end_offset: endOffset },
      ...{ removed_events: removedEvents, removed_offsets: removedOffsets },
    },
    `${removedText({ events: removedEvents, offsets: removedOffsets })}; keep records for longer than the longest ` +
      'outage: retention.ms, retention.bytes and cleanup.policy=delete of the topic',
  );
}
