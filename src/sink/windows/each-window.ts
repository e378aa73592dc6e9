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
  /** Whether a series is read with all its stages, or only its whole requests. @default with all */
  readonly isWanted?: (series: Series, startMs: number) => boolean;
  /** So many windows were too much for a setting's limit; half of them are asked for next. */
  readonly onTooMuch?: (windows: number, setting: string) => void;
  /** Of a block: stages of its windows at most, one window aside. @default 80,000 */
  readonly stagesTogether?: number;
}

/** Stages of windows that are judged together at most: some tenths of a second of work. */
const mostStagesTogether = 80_000;

/** A piece of a range, asked for. */
interface Piece extends WindowRange {
  readonly windows: number;
  readonly response: Promise<ResponseStream>;
}

/**
 * Every window start of a range, in order, also those without any series. Windows are handed out as they are
 * decoded; between two of them others have their turn. Pieces follow the rows that windows have, and the next
 * one is asked for while one is handed out: ClickHouse works meanwhile. A piece without a row is the begin of a gap,
 * whose end is asked for.
 *
 * Memory: one window of all series; ClickHouse holds back one piece.
 *
 * @throws OperatorError when a single window is too much for ClickHouse.
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

/** The same, those together that a detector judges faster so: of one block, and not too many for one turn. */
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
    // Before the next one is decoded: which series are wanted of that may depend on what these bring.
    const isLast = !areOfOneBlock(at.startMs, at.startMs + range.windowMs);
    if (!isLast && stages < stagesTogether) continue;
    yield block;
    block = [];
    stages = 0;
  }
  if (block.length > 0) yield block;
}

/** A group takes a member for dead that judges for seconds on end. */
async function* inTurn(at: WindowsAt): AsyncGenerator<WindowsAt, void> {
  yield at;
  await systemClock.breathe();
}

function open(client: ClickHouseClient, range: WindowRange, fromMs: number, most: number): Piece {
  const { windowMs } = range;
  const windows = Math.min(most, Math.ceil((range.toMs - fromMs) / windowMs));
  const piece = { fromMs, toMs: Math.min(range.toMs, fromMs + windows * windowMs), windowMs };
  const response = openWindows(client, piece);
  // Who waits for it hears of a failure; who does not has no use for it.
  response.catch(() => undefined);
  return { ...piece, windows, response };
}

function discard(piece: Piece | undefined): void {
  piece?.response.then(
    (response) => response.destroy(),
    () => undefined,
  );
}
