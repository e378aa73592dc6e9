import { PieceSize } from './piece-size.ts';
import { limitingSetting, oneIsTooMuch } from './too-much.ts';

/** Half-open range of time, in steps that are not parted. */
export interface SteppedRange {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
}

/**
 * Reads a range piece by piece, oldest first. Pieces follow the rows that steps have; one that is too much for
 * ClickHouse is halved. Memory: one piece.
 *
 * @param what names a step, for the error where a single one is too much.
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
