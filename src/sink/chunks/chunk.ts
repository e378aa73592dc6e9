import type { EncodedChunk } from './encode-chunk.ts';

/** A sealed chunk: its rows and its ledger entry. */
export interface Chunk {
  readonly groupId: string;
  readonly topic: string;
  readonly partition: number;
  /** Offsets [startOffset, endOffset). */
  readonly startOffset: number;
  readonly endOffset: number;
  /** Timestamp of the first record, and the latest of all. */
  readonly firstTimestampMs: number;
  readonly lastTimestampMs: number;
  readonly watermarkMs: number;
  readonly records: number;
  readonly consumed: number;
  readonly aggregated: number;
  readonly rejected: number;
  readonly late: number;
  readonly overflow: number;
  /** Aggregated and overflowed events that were merged into a window after the watermark had passed it. */
  readonly lateMerged: number;
  readonly rows: EncodedChunk;
}

/** The ledger's counts of a chunk's rows. */
export type RowCounts = Pick<EncodedChunk, 'rowCount' | 'samples' | 'windowMinMs' | 'windowMaxMs'>;

/** A chunk's ledger entry: all of it except the rows. */
export type LedgerEntry = Omit<Chunk, 'rows'> & { readonly rows: RowCounts };

/**
 * Deduplication token of a chunk: the same records always give the same token. The timestamps distinguish a
 * recreated topic, whose offsets start at 0 again.
 */
export function chunkToken(chunk: LedgerEntry): string {
  const { groupId, topic, partition, startOffset, endOffset } = chunk;
  const times = `${chunk.firstTimestampMs}-${chunk.lastTimestampMs}`;
  return `${groupId}/${topic}/${partition}/${startOffset}-${endOffset}/${times}`;
}
