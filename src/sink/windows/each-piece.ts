import { PieceSize } from './piece-size.ts';
import type { WindowRange } from './window-range.ts';

/**
 * Reads a range in pieces, oldest first. The size of a piece follows the number of rows per window. A piece
 * that is too large for ClickHouse is halved. Memory: one piece.
 *
 * @param what name of a window, for the error where a single one is too large.
 */
export async function* eachPiece<Row>(
  range: WindowRange,
  what: string,
  read: (fromMs: number, toMs: number) => Promise<Row[]>,
): AsyncGenerator<Row[], void> {
  const size = new PieceSize();
  for (let next = range.fromMs; next < range.toMs; ) {
    const { toMs, windows } = size.piece(range, next);
    try {
      const rows = await read(next, toMs);
      size.succeeded(windows, rows.length);
      next = toMs;
      yield rows;
    } catch (error) {
      size.failed(windows, error, what);
    }
  }
}
