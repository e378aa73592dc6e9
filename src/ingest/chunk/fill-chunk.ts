import type { RecordBatch } from '../../source/record.ts';
import type { OpenChunk } from './open-chunk.ts';

/**
 * Work between two yields to the event loop: records and bytes. Plain events take under a millisecond, others
 * a few. Partitions take turns (Clock.yieldToEventLoop).
 */
const RECORDS_AT_ONCE = 1_000;
const BYTES_AT_ONCE = 128 * 1024;

/**
 * Adds some records to a chunk, until it is full.
 *
 * @param boundary end of an inherited chunk, which is filled up to there; undefined for another.
 * @returns what the next record waits for, such as its schema.
 */
export function fillChunk(
  open: OpenChunk,
  { records, nextOffset, leaderEpoch }: RecordBatch,
  boundary: number | undefined,
): Promise<void> | undefined {
  const { mustPrepare } = open;
  let bytes = 0;
  for (let count = 0; count < RECORDS_AT_ONCE && bytes < BYTES_AT_ONCE; count++) {
    const record = records.current;
    if (record === undefined) break;
    if (boundary !== undefined && record.offset >= boundary) {
      open.extendTo(boundary);
      return undefined;
    }
    const prepared = mustPrepare ? open.prepare(record) : undefined;
    if (prepared !== undefined) return prepared;
    bytes += record.value?.length ?? 0;
    if (record.offset >= open.nextOffset) open.add(record);
    records.advance();
    if (boundary === undefined && open.isFull) break;
  }
  // The rest of the batch has no records.
  if (records.current !== undefined) return undefined;
  if (boundary === undefined) open.endBatch(nextOffset, leaderEpoch, records.removedAtEnd ?? 0);
  else open.extendTo(Math.min(nextOffset, boundary));
  return undefined;
}
