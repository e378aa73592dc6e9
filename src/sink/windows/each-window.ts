import type { ClickHouseClient } from '@clickhouse/client';
import { systemClock } from '../../base/clock.ts';
import { blockOf } from '../../detect/options/sharing-block.ts';
import type { Series } from '../../series/series-window.ts';
import { readingSettings } from '../client/query-settings.ts';
import { type ResponseStream, rowBinaryStream } from '../row-binary/row-binary-of.ts';
import { type Piece, PieceSize } from './piece-size.ts';
import { WindowDecoder, type WindowsAt } from './window-decoder.ts';
import { firstWindowMs, type WindowRange } from './window-range.ts';

export type { WindowsAt } from './window-decoder.ts';

export interface ReadOptions {
  /** True to read all stages of a series, false for its whole requests only. @default all stages */
  readonly isWanted?: (series: Series, startMs: number) => boolean;
  /** Stages that are read of every series too, wanted or not. @default none */
  readonly always?: readonly string[];
  /** Called when a read exceeded a limit; half as many windows are read next. */
  readonly onTooMuch?: (windows: number, setting: string) => void;
  /** Limit of stages in a block, except for its first window. @default 80,000 */
  readonly stagesTogether?: number;
}

/** Limit of stages that are evaluated together: some tenths of a second of work. */
const mostStagesTogether = 80_000;

/** Bytes decoded between two turns of the event loop: about ten milliseconds. */
const bytesATurn = 1024 * 1024;

interface OpenPiece extends Piece {
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
  let ahead: OpenPiece | undefined;
  try {
    while (next < toMs) {
      // After a gap or a halved piece, the one that was opened ahead begins elsewhere.
      if (ahead?.fromMs !== next) {
        discard(ahead);
        ahead = open(client, size.piece(range, next));
      }
      const piece = ahead;
      ahead = undefined;
      const decoder = new WindowDecoder(windowMs, options.isWanted, options.always);
      try {
        const response = await piece.response;
        if (piece.toMs < toMs) ahead = open(client, size.piece(range, piece.toMs));
        for await (const at of decodedWindows(response, decoder)) {
          for (; next < at.startMs; next += windowMs) yield* inTurn({ startMs: next, windows: [] });
          next += windowMs;
          yield* inTurn(at);
        }
        size.succeeded(piece.windows, decoder.rows);
        let emptyUntilMs = piece.toMs;
        if (decoder.rows === 0 && piece.toMs < toMs) {
          const rest = { ...range, fromMs: piece.toMs };
          emptyUntilMs = (await firstWindowMs(client, 'latency_10s', rest)) ?? toMs;
        }
        for (; next < emptyUntilMs; next += windowMs) yield* inTurn({ startMs: next, windows: [] });
      } catch (error) {
        const setting = size.failed(piece.windows, error, 'one window of all series');
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
    const isLast = blockOf(at.startMs) !== blockOf(at.startMs + range.windowMs);
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
  await systemClock.yieldToEventLoop();
}

/** Queries all series of a piece, in the order of their starts. */
function open(client: ClickHouseClient, piece: Piece): OpenPiece {
  const range = {
    windowSeconds: piece.windowMs / 1000,
    fromSeconds: Math.floor(piece.fromMs / 1000),
    toSeconds: Math.floor(piece.toMs / 1000),
  };
  const response = rowBinaryStream(client, 'series_windows', range, readingSettings);
  // A failure is reported by the await; without one it does not matter.
  response.catch(() => undefined);
  return { ...piece, response };
}

/** Decodes windows as they arrive. Memory: one window of all series, 1.5 kB per series and stage. */
async function* decodedWindows(
  response: ResponseStream,
  decoder: WindowDecoder,
): AsyncGenerator<WindowsAt, void> {
  let bytes = 0;
  for await (const part of response) {
    yield* decoder.decode(part as Buffer);
    bytes += (part as Buffer).length;
    if (bytes < bytesATurn) continue;
    bytes = 0;
    await systemClock.yieldToEventLoop();
  }
  yield* decoder.end();
}

function discard(piece: OpenPiece | undefined): void {
  piece?.response.then(
    (response) => response.destroy(),
    () => undefined,
  );
}
