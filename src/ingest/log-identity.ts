import { limits } from '../base/limits.ts';
import type { LedgerEnd } from '../sink/chunks/chunk-store.ts';
import type { FoundPartition } from '../source/source.ts';
import type { Intent } from './commit-metadata.ts';

/**
 * True if the topic was recreated since the ledger's chunks were stored. Without a ledger, the only sign is a
 * log that ends before the commit.
 */
async function isNew(
  committed: number,
  ledger: LedgerEnd | undefined,
  found: FoundPartition,
  pending?: Intent,
): Promise<boolean> {
  if (ledger === undefined) return committed > found.endOffset;
  const { endOffset, latestTimestampMs } = ledger;
  // A chunk that begins before the stored end and has later records. After compaction this may be the only
  // sign.
  const isLater = (pending?.counts.firstTimestampMs ?? 0) > latestTimestampMs;
  if (isLater && committed < endOffset && latestTimestampMs < limits.timestampMs) return true;
  const reached = Math.max(committed, endOffset);
  if (found.startOffset >= endOffset && reached <= found.endOffset) return false;
  if (found.startOffset === found.endOffset) return reached > found.endOffset;
  return beginsLater(latestTimestampMs, 0, endOffset, found);
}

/**
 * True if a pending chunk belongs to the current log. Its records distinguish a recreated log: they are later
 * than everything stored from the previous log.
 */
async function isOf(
  startOffset: number,
  intent: Intent | undefined,
  ledger: LedgerEnd | undefined,
  found: FoundPartition,
): Promise<boolean> {
  if (intent === undefined || startOffset > found.endOffset) return false;
  const { endOffset, counts } = intent;
  const { firstTimestampMs, lastTimestampMs } = counts;
  if (ledger !== undefined && startOffset >= ledger.endOffset) return false;
  if (ledger !== undefined && firstTimestampMs <= ledger.latestTimestampMs) return false;
  if (found.startOffset === found.endOffset) return endOffset <= found.endOffset;
  const latestMs = Math.max(firstTimestampMs, lastTimestampMs);
  return !(await beginsLater(latestMs, startOffset, endOffset, found));
}

/**
 * True if the log's first record is within the range of offsets but later than all records of that range.
 * Then the range is not of this log.
 */
async function beginsLater(
  latestMs: number,
  startOffset: number,
  endOffset: number,
  found: FoundPartition,
): Promise<boolean> {
  if (latestMs >= limits.timestampMs) return false;
  const [first, firstLater] = await Promise.all([
    found.firstOffsetAt(0),
    found.firstOffsetAt(latestMs + 1),
  ]);
  return first === firstLater && first >= startOffset && first < endOffset;
}

/**
 * Distinguishes the log of a recreated topic from the previous one, to which a commit, an intent or the
 * ledger may belong. Kafka's responses name a topic, not a log, so record timestamps decide. Those of the new
 * log must be later than all stored ones of the old log.
 */
export const logIdentity = { isNew, isOf };
