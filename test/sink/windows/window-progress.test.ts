import { describe, expect, it } from 'vitest';
import {
  completeUntil,
  type PartitionProgress,
} from '../../../src/sink/windows/window-progress.ts';

const nowMs = 1_790_000_000_000;
const idleMs = 30_000;
const partition = (watermarkMs: number, silentMs: number): PartitionProgress => ({
  topic: 't',
  partition: 0,
  watermarkMs,
  flushedMs: nowMs - silentMs,
  newestMs: watermarkMs,
  endOffset: 1,
});

describe('completeUntil', () => {
  it.each([
    ['nothing is stored yet', [], Number.NEGATIVE_INFINITY],
    ['all are active: the least', [partition(700, 0), partition(500, 9)], 500],
    ['one is idle: the least of the others', [partition(100, 30_000), partition(500, 0)], 500],
    ['one is just not idle yet', [partition(100, 29_999), partition(500, 0)], 100],
    ['all are idle: the latest', [partition(100, 90_000), partition(500, 60_000)], 500],
    ['one has garbage alone, and is active', [partition(0, 0), partition(500, 0)], 500],
    ['one has garbage alone, and all are idle', [partition(0, 90_000), partition(5, 90_000)], 5],
    ['all have garbage alone', [partition(0, 0)], Number.NEGATIVE_INFINITY],
    ['the clock of the ledger runs ahead', [partition(500, -5_000)], 500],
  ])('where %s', (_, partitions, expected) => {
    expect(completeUntil(partitions, nowMs, idleMs)).toBe(expected);
  });
});
