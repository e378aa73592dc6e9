import { limits } from '../base/limits.ts';
import type { LedgerEnd } from '../sink/chunks/chunk-store.ts';
import type { FoundPartition } from '../source/source.ts';
import type { Intent } from './commit-metadata.ts';

/**
 * Whether the topic was made anew since what the ledger has was stored. Where nothing is in the
 * ledger, only a log that does not reach to the commit tells.
 */
async function isNew(
  committed: number,
  ledger: LedgerEnd | undefined,
  found: FoundPartition,
  begun?: Intent,
): Promise<boolean> {
  if (ledger === undefined) return committed > found.endOffset;
  const { endOffset, latestTimestampMs } = ledger;
  // A chunk that begins below what is stored and has later records: compaction may have left nothing
  // else to tell by.
  const isLater = (begun?.counts.firstTimestampMs ?? 0) > latestTimestampMs;
  if (isLater && committed < endOffset && latestTimestampMs < limits.timestampMs) return true;
  const reached = Math.max(committed, endOffset);
  if (found.startOffset >= endOffset && reached <= found.endOffset) return false;
  if (found.startOffset === found.endOffset) return reached > found.endOffset;
  return beginsLater(latestTimestampMs, 0, endOffset, found);
}

/**
 * Whether a chunk that was begun is of the log that is there. One of a log made anew is told from
 * one of the log before by its records: they are later than all that is stored of that one.
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
 * Whether the first record of a log is later than all records of a range of offsets that it lies in:
 * then the range is not of this log.
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
 * Tells the log of a topic that was deleted and made anew from the one before, of which a commit, an
 * intent or the ledger may still be. Kafka's answers name a topic, not a log, so it is told by the
 * timestamps of records: those of the new log must be later than all of the old one that are stored.
 */
export const logIdentity = { isNew, isOf };
