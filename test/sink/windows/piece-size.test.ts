import { ClickHouseError } from '@clickhouse/client';
import { expect, it } from 'vitest';
import { PieceSize } from '../../../src/sink/windows/piece-size.ts';

const endless = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, windowMs: 10_000 };
const tooLarge = new ClickHouseError({ message: 'memory limit exceeded\nstack', code: '241' });
const failed = (size: PieceSize, windows: number, error: Error = tooLarge) =>
  size.failed(windows, error, 'one window');

/** Windows of pieces that all succeed, of so many rows a window. */
function grown(size: PieceSize, pieces: number, rowsAWindow: number): number[] {
  return Array.from({ length: pieces }, () => {
    const { windows } = size.piece(endless, 0);
    size.succeeded(windows, windows * rowsAWindow);
    return windows;
  });
}

it('PieceSize doubles while windows are small, up to an hour of them', () => {
  expect(grown(new PieceSize(), 9, 10)).toEqual([4, 8, 16, 32, 64, 128, 256, 360, 360]);
});

it('PieceSize follows the rows of windows: 150,000 a piece, or one window', () => {
  const size = new PieceSize();
  expect(grown(size, 4, 22_000)).toEqual([4, 6, 6, 6]);
  expect(grown(size, 2, 1_000_000)).toEqual([6, 1]);
  expect(grown(size, 3, 22_000)).toEqual([1, 2, 4]);
});

it('PieceSize halves what was too much down to one window, and refuses to make a smaller piece', () => {
  const size = new PieceSize();
  expect(grown(size, 3, 10)).toEqual([4, 8, 16]);
  const halves = [32, 16, 8, 4, 2].map((windows) => {
    expect(size.piece(endless, 0).windows).toBe(windows);
    return failed(size, windows);
  });
  expect(new Set(halves)).toEqual(new Set(['max_memory_usage']));
  expect(size.piece(endless, 0).windows).toBe(1);
  expect(() => failed(size, 1)).toThrow(
    'Cannot read for the detector: max_memory_usage must allow for one window (memory limit exceeded)',
  );
});

it('PieceSize throws errors other than of a limit', () => {
  const error = new Error('connection reset');
  expect(() => failed(new PieceSize(), 4, error)).toThrow(error);
});

it('PieceSize ends a piece at the end of its range', () => {
  const range = { fromMs: 0, toMs: 35_000, windowMs: 10_000 };
  expect(new PieceSize().piece(range, 20_000)).toEqual({
    ...{ fromMs: 20_000, toMs: 35_000, windowMs: 10_000, windows: 2 },
  });
});

it('PieceSize tries twice as much eight pieces after a failure, and no sooner', () => {
  const size = new PieceSize();
  grown(size, 3, 10);
  failed(size, 32);
  expect(grown(size, 17, 10)).toEqual([
    ...[16, 16, 16, 16, 16, 16, 16, 16],
    ...[32, 32, 32, 32, 32, 32, 32, 32],
    64,
  ]);
});

it('PieceSize does not grow with empty windows', () => {
  const size = new PieceSize();
  expect(grown(size, 3, 0)).toEqual([4, 4, 4]);
  expect(grown(size, 2, 10)).toEqual([4, 8]);
});
