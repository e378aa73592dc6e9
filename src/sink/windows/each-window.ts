import type { ClickHouseClient } from '@clickhouse/client';
import { systemClock } from '../../base/clock.ts';
import { areOfOneBlock } from '../../detect/step/sharing-block.ts';
import type { Series } from '../../series/series-window.ts';
import type { ResponseStream } from '../row-binary/row-binary-of.ts';
import { firstWindowMs } from './first-window.ts';
import { PieceSize } from './piece-size.ts';
import { limitingSetting, oneIsTooMuch } from './too-much.ts';
import { WindowDecoder, type WindowsAt } from './window-decoder.ts';
import { decodedWindows, openWindows, type WindowRange } from './window-reader.ts';

export type { WindowsAt } from './window-decoder.ts';

export interface ReadOptions {
  /** True to read all stages of a series, false for its whole requests only. @default all stages */
  readonly isWanted?: (series: Series, startMs: number) => boolean;
  /** Called when a read exceeded a limit; half as many windows are read next. */
  readonly onTooMuch?: (windows: number, setting: string) => void;
  /** Limit of stages in a block, except for its first window. @default 80,000 */
  readonly stagesTogether?: number;
}

/** Limit of stages that are evaluated together: some tenths of a second of work. */
const mostStagesTogether = 80_000;

interface Piece extends WindowRange {
  readonly windows: number;
  readonly response: Promise<ResponseStream>;
}

/**
 * Yields every window start of a range in order, also those without series. Windows are yielded as they are
 * decoded, with turns of the event loop between them. The size of a piece follows the number of rows per
 * window. The next piece is queried while one is processed. An empty piece starts a gap, whose end is
 * queried.
 *
 * Memory: one window of all series; ClickHouse buffers one piece.
 *
 * @throws OperatorError when a single window is too large for ClickHouse.
 */
export async function* eachWindow(
  client: ClickHouseClient,
  range: WindowRange,
  options: ReadOptions = {},
): AsyncGenerator<WindowsAt, void> {
  const { toMs, windowMs } = range;
  const size = new PieceSize();
  let next = range.fromMs;
  let ahead: Piece | undefined;
  try {
    while (next < toMs) {
      const piece: Piece = ahead ?? open(client, range, next, size.windows);
      ahead = undefined;
      const decoder = new WindowDecoder(windowMs, options.isWanted);
      try {
        const response = await piece.response;
        if (piece.toMs < toMs) ahead = open(client, range, piece.toMs, size.windows);
        for await (const at of decodedWindows(response, decoder)) {
          for (; next < at.startMs; next += windowMs) yield* inTurn({ startMs: next, windows: [] });
          next += windowMs;
          yield* inTurn(at);
        }
        size.succeeded(piece.windows, decoder.rows);
        let emptyUntilMs = piece.toMs;
        if (decoder.rows === 0 && piece.toMs < toMs) {
          const rest = { fromMs: piece.toMs, toMs, windowMs };
          emptyUntilMs = Math.max(piece.toMs, (await firstWindowMs(client, rest)) ?? toMs);
          discard(ahead);
          ahead = undefined;
        }
        for (; next < emptyUntilMs; next += windowMs) yield* inTurn({ startMs: next, windows: [] });
      } catch (error) {
        const setting = limitingSetting(error);
        if (setting === undefined) throw error;
        discard(ahead);
        ahead = undefined;
        if (!size.failed(piece.windows))
          throw oneIsTooMuch('one window of all series', error, setting);
        options.onTooMuch?.(piece.windows, setting);
      }
    }
  } finally {
    discard(ahead);
  }
}

/** The same in blocks that a detector evaluates faster together, limited for one turn. */
export async function* eachBlock(
  client: ClickHouseClient,
  range: WindowRange,
  options: ReadOptions = {},
): AsyncGenerator<readonly WindowsAt[], void> {
  const { stagesTogether = mostStagesTogether } = options;
  let block: WindowsAt[] = [];
  let stages = 0;
  for await (const at of eachWindow(client, range, options)) {
    block.push(at);
    for (const window of at.windows) stages += window.stages.size;
    // Yields before decoding the next window, because this block may change which series it needs.
    const isLast = !areOfOneBlock(at.startMs, at.startMs + range.windowMs);
    if (!isLast && stages < stagesTogether) continue;
    yield block;
    block = [];
    stages = 0;
  }
  if (block.length > 0) yield block;
}

/** Yields to the event loop: a group removes a member that blocks it for seconds. */
async function* inTurn(at: WindowsAt): AsyncGenerator<WindowsAt, void> {
  yield at;
  await systemClock.breathe();
}

function open(client: ClickHouseClient, range: WindowRange, fromMs: number, most: number): Piece {
  const { windowMs } = range;
  const windows = Math.min(most, Math.ceil((range.toMs - fromMs) / windowMs));
  const piece = { fromMs, toMs: Math.min(range.toMs, fromMs + windows * windowMs), windowMs };
  const response = openWindows(client, piece);
  // A failure is reported by the await; without one it does not matter.
  response.catch(() => undefined);
  return { ...piece, windows, response };
}

function discard(piece: Piece | undefined): void {
  piece?.response.then(
    (response) => response.destroy(),
    () => undefined,
  );
}
