import { describe, expect, it } from 'vitest';
import { BatchQueue } from '../../src/kafka/prefetch-slot.ts';
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
  let settle: { done: () => void; fail: (error: Error) => void } | undefined;
  const lane = new BatchQueue(({ fetchOffset }) => {
    started.push(fetchOffset);
    return new Promise<void>((done, fail) => {
      settle = { done, fail };
    });
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return {
    lane,
    started,
    end: () => {
      settle?.done();
      return turn();
    },
    fail: (error: Error) => {
      settle?.fail(error);
      return turn();
    },
  };
}

describe('a prefetch queue', () => {
  it('has one batch handled at a time, in order, and holds one', async () => {
    const { lane, started, end } = bench();
    lane.push(batchAt(1));
    expect([[...started], lane.isFull]).toEqual([[1], false]);
    lane.push(batchAt(2));
    expect([[...started], lane.isFull]).toEqual([[1], true]);
    const { room } = lane;
    await end();
    await room;
    expect([[...started], lane.isFull]).toEqual([[1, 2], false]);
    await end();
    lane.push(batchAt(3));
    expect(started).toEqual([1, 2, 3]);
  });

  it('accepts nothing more after a failure, and leaves no call waiting', async () => {
    const { lane, started, fail } = bench();
    const error = new Error('no');
    lane.push(batchAt(1));
    lane.push(batchAt(2));
    const { room } = lane;
    await fail(error);
    await room;
    expect([lane.failure, lane.isFull]).toEqual([error, false]);
    lane.push(batchAt(3));
    expect(started).toEqual([1]);
  });
});
