import { expect, it } from 'vitest';
import { PieceSize } from '../../../src/sink/windows/piece-size.ts';

/** Windows of pieces that all succeed, of so many rows a window. */
function grown(size: PieceSize, pieces: number, rowsAWindow: number): number[] {
  return Array.from({ length: pieces }, () => {
    const { windows } = size;
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

it('PieceSize halves what was too much down to one window, and says when there is no smaller piece', () => {
  const size = new PieceSize();
  expect(grown(size, 3, 10)).toEqual([4, 8, 16]);
  const halves = [32, 16, 8, 4, 2].map((windows) => {
    expect(size.windows).toBe(windows);
    return size.failed(windows);
  });
  expect(halves).toEqual([true, true, true, true, true]);
  expect(size.windows).toBe(1);
  expect(size.failed(1)).toBe(false);
});

it('PieceSize tries twice as much eight pieces after a failure, and no sooner', () => {
  const size = new PieceSize();
  grown(size, 3, 10);
  size.failed(32);
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
