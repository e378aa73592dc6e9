import { describe, expect, it } from 'vitest';
import { OpenRange } from '../../src/ingest/open-range.ts';
import type { StartPosition } from '../../src/ingest/start-position.ts';
import { chunk } from './flush-world.ts';
import { testIntent } from './test-intent.ts';

const log = { logId: 'c/t', watermarkMs: 55, leaderEpoch: 2 };

function rangeFrom(position: Partial<StartPosition> & { readonly startOffset: number }): OpenRange {
  return new OpenRange({
    ...log,
    reason: 'committed',
    readOffset: position.startOffset,
    lost: undefined,
    intent: undefined,
    truncatedAt: undefined,
    removedFrom: position.startOffset,
    lostOffsets: 0,
    mustCommit: false,
    ...position,
  });
}

/** A chunk that ends there. */
const sealedTo = (endOffset: number, logId = 'c/t') => ({ ...chunk, ...log, logId, endOffset });

describe('the open range of a claim', () => {
  it('begins where the claim does, and then where the chunk before ends', () => {
    const range = rangeFrom({ startOffset: 4 });
    expect(range.begin).toEqual({ ...log, startOffset: 4 });
    range.pass({ ...sealedTo(9), watermarkMs: 70, leaderEpoch: 3 });
    expect(range.begin).toEqual({ ...log, startOffset: 9, watermarkMs: 70, leaderEpoch: 3 });
    expect(range.inherited ?? range.boundary ?? range.removedTo).toBeUndefined();
    expect(range.isRemoved).toBe(false);
    expect(range.unstored(12, 20)).toMatchObject({ startOffset: 9, endOffset: 20 });
  });

  it('first is of what retention has removed, whose leader says nothing of the log after it', () => {
    const range = rangeFrom({ startOffset: 4, readOffset: 9 });
    expect(range.begin).toEqual({ ...log, startOffset: 4, leaderEpoch: -1 });
    expect([range.isRemoved, range.removedTo]).toEqual([true, 9]);
    range.pass(sealedTo(9));
    expect(range.begin).toEqual({ ...log, startOffset: 9 });
    expect([range.isRemoved, range.removedTo]).toEqual([false, undefined]);
  });
});

describe('the range of a predecessor’s pending chunk', () => {
  const intent = testIntent(10, 99);

  it('ends where its intent says, and is inherited until it was sealed', () => {
    const range = rangeFrom({ startOffset: 4, intent });
    expect([range.inherited, range.boundary, range.isRemoved]).toEqual([intent, 10, false]);
    expect(range.unstored(6, 8)).toMatchObject({ startOffset: 4, endOffset: 8, intent });
    range.pass(sealedTo(10));
    expect([range.inherited, range.boundary]).toEqual([undefined, undefined]);
    expect(range.begin.startOffset).toBe(10);
  });

  it('is removed as a whole where the log begins at its end, and in part where it begins before', () => {
    const whole = rangeFrom({ startOffset: 4, readOffset: 12, intent });
    expect([whole.isRemoved, whole.removedTo]).toEqual([true, 10]);
    // Records behind it are removed too: they are the next range.
    whole.pass(sealedTo(10));
    expect([whole.begin.startOffset, whole.isRemoved, whole.removedTo]).toEqual([10, true, 12]);
    const part = rangeFrom({ startOffset: 4, readOffset: 7, intent });
    expect([part.isRemoved, part.removedTo]).toEqual([false, 7]);
  });

  it('ends where its log was truncated, and the next one is of the log’s next generation', () => {
    const truncatedAt = { leaderEpoch: 1, endOffset: 7 };
    const range = rangeFrom({ startOffset: 4, intent, truncatedAt });
    expect(range.boundary).toBe(7);
    range.pass(sealedTo(10));
    expect(range.begin).toEqual({ ...log, logId: 'c/t#2', startOffset: 7, leaderEpoch: 1 });
  });
});

describe('the range of a log that is gone', () => {
  const lost = { logId: 'c/old', startOffset: 4, endOffset: 30, intent: undefined };

  it('is all that is known of it, whatever the log that is there has', () => {
    const range = rangeFrom({ startOffset: 0, lost });
    expect(range.begin).toMatchObject({ logId: 'c/old', startOffset: 4, leaderEpoch: -1 });
    expect([range.isRemoved, range.removedTo]).toEqual([true, 30]);
    expect(range.unstored(30, 900)).toMatchObject({ logId: 'c/old', endOffset: 30 });
    range.pass(sealedTo(30, 'c/old'));
    expect(range.begin).toEqual({ ...log, startOffset: 0, watermarkMs: Number.NEGATIVE_INFINITY });
    expect([range.isRemoved, range.unstored(3, 900).endOffset]).toEqual([false, 900]);
  });

  it('has a predecessor’s pending chunk first, then the rest', () => {
    const range = rangeFrom({ startOffset: 0, lost: { ...lost, intent: testIntent(10, 99) } });
    expect([range.boundary, range.isRemoved, range.removedTo]).toEqual([10, true, 10]);
    range.pass(sealedTo(10, 'c/old'));
    expect(range.begin).toMatchObject({ logId: 'c/old', startOffset: 10 });
    expect([range.boundary, range.isRemoved, range.removedTo]).toEqual([undefined, true, 30]);
    range.pass(sealedTo(30, 'c/old'));
    expect(range.begin.logId).toBe('c/t');
  });
});
