import { PieceSize } from './piece-size.ts';
import { limitingSetting, oneIsTooMuch } from './too-much.ts';

/** Half-open range of time, in indivisible steps. */
export interface SteppedRange {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
}

/**
 * Reads a range in pieces, oldest first. The size of a piece follows the number of rows per step. A piece
 * that is too large for ClickHouse is halved. Memory: one piece.
 *
 * @param what name of a step, for the error where a single one is too large.
 */
export async function* eachPiece<Row>(
  { fromMs, toMs, stepMs }: SteppedRange,
  what: string,
  read: (fromMs: number, toMs: number) => Promise<Row[]>,
): AsyncGenerator<Row[], void> {
  const size = new PieceSize();
  for (let next = fromMs; next < toMs; ) {
    const steps = Math.min(size.windows, Math.ceil((toMs - next) / stepMs));
    const endMs = Math.min(toMs, next + steps * stepMs);
    let rows: Row[];
    try {
      rows = await read(next, endMs);
    } catch (error) {
      const setting = limitingSetting(error);
      if (setting === undefined) throw error;
      if (!size.failed(steps)) throw oneIsTooMuch(what, error, setting);
      continue;
    }
    size.succeeded(steps, rows.length);
    next = endMs;
    yield rows;
  }
}
