import { describe, expect, it } from 'vitest';
import { BatchQueue } from '../../src/kafka/batch-queue.ts';
import { type RecordBatch, RecordList } from '../../src/source/record.ts';

const batchAt = (fetchOffset: number): RecordBatch => ({
  topic: 't',
  partition: 0,
  fetchOffset,
  records: new RecordList([]),
  nextOffset: fetchOffset + 1,
  highWatermark: 9,
});

/** A queue whose batches end when the test wants. */
function bench() {
  const started: number[] = [];
  let pending: { done: () => void; fail: (error: Error) => void } | undefined;
  const queue = new BatchQueue(({ fetchOffset }) => {
    started.push(fetchOffset);
    return new Promise<void>((done, fail) => {
      pending = { done, fail };
    });
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return {
    queue,
    started,
    end: () => {
      pending?.done();
      return turn();
    },
    fail: (error: Error) => {
      pending?.fail(error);
      return turn();
    },
  };
}

describe('a prefetch queue', () => {
  it('has one batch handled at a time, in order, and holds one', async () => {
    const { queue, started, end } = bench();
    queue.push(batchAt(1));
    expect([[...started], queue.isFull]).toEqual([[1], false]);
    queue.push(batchAt(2));
    expect([[...started], queue.isFull]).toEqual([[1], true]);
    const { freed } = queue;
    await end();
    await freed;
    expect([[...started], queue.isFull]).toEqual([[1, 2], false]);
    await end();
    queue.push(batchAt(3));
    expect(started).toEqual([1, 2, 3]);
  });

  it('accepts nothing more after a failure, and leaves no call waiting', async () => {
    const { queue, started, fail } = bench();
    const error = new Error('no');
    queue.push(batchAt(1));
    queue.push(batchAt(2));
    const { freed } = queue;
    await fail(error);
    await freed;
    expect([queue.failure, queue.isFull]).toEqual([error, false]);
    queue.push(batchAt(3));
    expect(started).toEqual([1]);
  });
});
