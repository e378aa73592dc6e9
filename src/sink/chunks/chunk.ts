import type { EncodedChunk } from './encode-chunk.ts';

/** A sealed chunk: what is stored, and what the ledger says of it. */
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
  /** Of the aggregated and overflowed: merged into a window that the watermark had passed. */
  readonly lateMerged: number;
  readonly rows: EncodedChunk;
}

/** What the ledger says of a chunk's rows. */
export type RowCounts = Pick<EncodedChunk, 'rowCount' | 'samples' | 'windowMinMs' | 'windowMaxMs'>;

/** What the ledger says of a chunk: all of it but the rows themselves. */
export type LedgerEntry = Omit<Chunk, 'rows'> & { readonly rows: RowCounts };

/**
 * Names a chunk for ClickHouse's deduplication: the same records always give the same token. The
 * timestamps tell a topic made anew, which starts at offset 0 again, from the one before.
 */
export function chunkToken(chunk: LedgerEntry): string {
  const { groupId, topic, partition, startOffset, endOffset } = chunk;
  const times = `${chunk.firstTimestampMs}-${chunk.lastTimestampMs}`;
  return `${groupId}/${topic}/${partition}/${startOffset}-${endOffset}/${times}`;
}
