import { describe, expect, it } from 'vitest';
import { decodeFetchResponse } from '../../../src/kafka/protocol/fetch-response.ts';
import { FramePool } from '../../../src/kafka/protocol/frame-pool.ts';
import { RecordBatchReader } from '../../../src/kafka/protocol/record-batch-reader.ts';
import { allOf, encodeBatch, encodeResponse, recordsOf } from '../record-batch.ts';

const mebibyte = 1 << 20;

describe('memory of frames', () => {
  it('that was returned is lent again to a frame that fits, and to no two at once', () => {
    const pool = new FramePool();
    const first = pool.allocate(3 * mebibyte - 5);
    const second = pool.allocate(3 * mebibyte - 5);
    expect(first.buffer).not.toBe(second.buffer);
    pool.give(first.subarray(4));
    pool.give(first);
    expect(pool.allocate(2 * mebibyte).buffer).toBe(first.buffer);
    expect(pool.allocate(2 * mebibyte).buffer).not.toBe(first.buffer);
  });

  it('has the requested length, whatever it had before', () => {
    const pool = new FramePool();
    pool.give(pool.allocate(5 * mebibyte));
    expect(pool.allocate(3 * mebibyte)).toHaveLength(3 * mebibyte);
  });

  it('is kept of few frames, and is replaced by that of larger ones', () => {
    const pool = new FramePool();
    const small = Array.from({ length: 6 }, () => pool.allocate(mebibyte));
    for (const frame of small) pool.give(frame);
    const large = pool.allocate(9 * mebibyte);
    pool.give(large);
    expect(pool.allocate(9 * mebibyte).buffer).toBe(large.buffer);
    const again = Array.from({ length: 6 }, () => pool.allocate(mebibyte).buffer);
    expect(small.filter(({ buffer }) => again.includes(buffer)).length).toBe(3);
  });

  it('of small frames, and of unknown borrowers, is ignored', () => {
    const pool = new FramePool();
    const small = pool.allocate(1_000);
    pool.give(small);
    pool.give(Buffer.alloc(mebibyte));
    expect(pool.allocate(1_000).buffer).not.toBe(small.buffer);
  });
});

describe('a response', () => {
  const reader = new RecordBatchReader(mebibyte);
  const batch = encodeBatch({ count: 2, payload: recordsOf(['a', 'b']) });

  it('is read when the last record of its last partition has been passed', async () => {
    let isRead = false;
    const parts = [0, 1].map((partition) => ({ partition, bytes: batch }));
    const { responses } = await decodeFetchResponse(encodeResponse(parts), 11, reader, () => {
      isRead = true;
    });
    const [first, second] = responses[0]?.partitions ?? [];
    expect(allOf(second?.messages[0]?.records as never)).toHaveLength(2);
    expect(isRead).toBe(false);
    const records = first?.messages[0]?.records;
    records?.advance();
    expect(isRead).toBe(false);
    records?.advance();
    expect(isRead).toBe(true);
    records?.advance();
  });

  it('without records is read at once, once', async () => {
    let times = 0;
    const empty = encodeResponse([{ partition: 0, bytes: Buffer.alloc(0) }]);
    await decodeFetchResponse(empty, 11, reader, () => times++);
    expect(times).toBe(1);
  });
});
