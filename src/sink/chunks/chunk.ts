import type { EncodedChunk } from './encode-chunk.ts';

/** A sealed chunk: its rows and its ledger entry. */
export interface Chunk {
  readonly groupId: string;
  readonly topic: string;
  readonly partition: number;
  /** The log that the offsets are of (source/log-id.ts). */
  readonly logId: string;
  /** Offsets [startOffset, endOffset). */
  readonly startOffset: number;
  readonly endOffset: number;
  /** Timestamp of the first record, and the latest of all. */
  readonly firstTimestampMs: number;
  readonly lastTimestampMs: number;
  readonly watermarkMs: number;
  /** Leader epoch of the last record, or of the one before the chunk where it has none; -1 if unknown. */
  readonly leaderEpoch: number;
  readonly records: number;
  readonly consumed: number;
  readonly aggregated: number;
  readonly rejected: number;
  readonly late: number;
  readonly overflow: number;
  /** Spans or records that no rule maps to an event, by intent. */
  readonly unmapped: number;
  /** Requests that the aggregated and overflowed events stand for: the sum of their weights. */
  readonly weight: number;
  /** Aggregated and overflowed events that were merged into a window after the watermark had passed it. */
  readonly lateMerged: number;
  /** Events that its intent had counted, and that Kafka had removed when the chunk was made again. */
  readonly removedEvents: number;
  /** Offsets whose records Kafka had removed before anyone read them: one record each, at most. */
  readonly removedOffsets: number;
  readonly rows: EncodedChunk;
}

/** The ledger's counts of a chunk's rows. */
export type RowCounts = Pick<EncodedChunk, 'rowCount' | 'samples' | 'windowMinMs' | 'windowMaxMs'>;

/** A chunk's ledger entry: all of it except the rows. */
export type LedgerEntry = Omit<Chunk, 'rows'> & { readonly rows: RowCounts };

/**
 * Deduplication token of a chunk: the same records always have the same token. The leader epoch tells them from
 * others that an unclean election put in their place.
 */
export function chunkToken(chunk: LedgerEntry): string {
  const { groupId, topic, partition, logId, startOffset, endOffset, leaderEpoch } = chunk;
  return `${groupId}/${topic}/${partition}/${logId}/${startOffset}-${endOffset}@${leaderEpoch}`;
}
