import { describe, expect, it } from 'vitest';
import type { FetchedRecords } from '../../../src/kafka/protocol/fetched-records.ts';
import { RecordBatchReader } from '../../../src/kafka/protocol/record-batch-reader.ts';
import { encodeBatch, encodeLog, type LoggedRecord } from '../record-batch.ts';

const value = Buffer.from('v');
const emptied = (baseOffset: number, offsets: number) =>
  encodeBatch({ baseOffset, count: 0, lastOffsetDelta: offsets - 1, payload: Buffer.alloc(0) });
const records = (...offsets: readonly number[]) =>
  encodeLog(offsets.map((offset): LoggedRecord => ({ offset, value })));

const read = (...batches: readonly Buffer[]) =>
  new RecordBatchReader(1 << 20).read(Buffer.concat(batches), [], { inflatedBytes: 0 });

/** Offsets of the records from one on, each with what is removed before it, and what is at the end. */
function removedIn(found: FetchedRecords, fetchOffset: number) {
  found.passBefore(fetchOffset);
  const before: [number, number][] = [];
  for (; found.current !== undefined; found.advance()) {
    before.push([found.current.offset, found.current.removedBefore ?? 0]);
  }
  return { before, atEnd: found.removedAtEnd };
}

describe('offsets whose records are gone', () => {
  it('are none where batches are whole', async () => {
    const found = await read(records(3, 4), records(5), records(6, 7, 8));
    expect(removedIn(found, 3)).toEqual({
      before: [3, 4, 5, 6, 7, 8].map((offset) => [offset, 0]),
      atEnd: 0,
    });
  });

  it('are those that a batch lacks within, and at its end', async () => {
    const short = encodeBatch({
      ...{ baseOffset: 10, count: 2, lastOffsetDelta: 6 },
      payload: bodyOf(records(10, 13)),
    });
    const found = await read(short, records(17));
    expect(removedIn(found, 10)).toEqual({
      before: [
        [10, 0],
        [13, 2],
        [17, 3],
      ],
      atEnd: 0,
    });
    expect(removedIn(await read(short), 10).atEnd).toBe(3);
  });

  it('are those of no batch, and of batches that compaction has emptied', async () => {
    const found = await read(records(2), records(5), emptied(6, 4), records(12), emptied(13, 2));
    expect(removedIn(found, 2)).toEqual({
      before: [
        [2, 0],
        [5, 2],
        [12, 6],
      ],
      atEnd: 2,
    });
  });

  it('before the first batch are those from the offset that was asked for', async () => {
    expect(removedIn(await read(records(9, 10)), 4).before).toEqual([
      [9, 5],
      [10, 0],
    ]);
  });

  it('before a first batch that is rejected are counted too', async () => {
    const whole = records(9);
    const damaged = () => Buffer.concat([whole.subarray(0, -1), Buffer.from([0x55])]);
    const reader = new RecordBatchReader(1 << 20);
    await reader.read(damaged(), [], { inflatedBytes: 0 }).catch(() => undefined);
    const found = await reader.read(damaged(), [], { inflatedBytes: 0 });
    found.passBefore(4);
    expect(found.current?.refused).toBeDefined();
    expect(removedIn(found, 4).before).toEqual([[9, 5]]);
  });

  it('before that offset are of no interest, where the response begins before it', async () => {
    const log = [records(2), emptied(3, 2), records(7, 8), emptied(9, 3)];
    const rest = (seven: number) => [
      [7, seven],
      [8, 0],
    ];
    expect(removedIn(await read(...log), 2).before).toEqual([[2, 0], ...rest(4)]);
    expect(removedIn(await read(...log), 4)).toEqual({ before: rest(3), atEnd: 3 });
    expect(removedIn(await read(...log), 6)).toEqual({ before: rest(1), atEnd: 3 });
    expect(removedIn(await read(...log), 7)).toEqual({ before: rest(0), atEnd: 3 });
    expect(removedIn(await read(...log), 11)).toEqual({ before: [], atEnd: 1 });
  });

  it('before that offset are of no interest within a batch, or behind hidden ones', async () => {
    const short = encodeBatch({
      ...{ baseOffset: 10, count: 2, lastOffsetDelta: 6 },
      payload: bodyOf(records(10, 16)),
    });
    expect(removedIn(await read(short), 13).before).toEqual([[16, 3]]);
    const log = encodeLog([
      { offset: 0, value },
      { offset: 2, value, producerId: 7 },
      { offset: 3, value: null, producerId: 7, isMarker: true },
      { offset: 4, value },
    ]);
    const aborted = [{ producerId: 7n, firstOffset: 2 }];
    const found = await new RecordBatchReader(1 << 20).read(log, aborted, { inflatedBytes: 0 });
    expect(removedIn(found, 2).before).toEqual([[4, 0]]);
  });

  it('are neither markers nor records of aborted transactions', async () => {
    const log = encodeLog([
      { offset: 0, value },
      { offset: 1, value, producerId: 7 },
      { offset: 2, value, producerId: 7 },
      { offset: 3, value: null, producerId: 7, isMarker: true },
      { offset: 4, value },
    ]);
    const aborted = [{ producerId: 7n, firstOffset: 1 }];
    const found = await new RecordBatchReader(1 << 20).read(log, aborted, { inflatedBytes: 0 });
    expect(removedIn(found, 0)).toEqual({
      before: [
        [0, 0],
        [4, 0],
      ],
      atEnd: 0,
    });
  });
});

/** The records of a batch without its header. */
function bodyOf(batch: Buffer): Buffer {
  return batch.subarray(61);
}
