import type { ClickHouseClient } from '@clickhouse/client';
import { systemClock } from '../base/clock.ts';
import type { SeriesWindow } from '../baseline/series-window.ts';
import { areOfOneBlock } from '../detect/step-judge.ts';
import { readWindows, type WindowRange } from './window-reader.ts';

/** Windows read at once: bounds memory while much is read. */
const WINDOWS_AT_ONCE = 30;

/** All series of one window start; none where no series had a request. */
export interface WindowsAt {
  readonly startMs: number;
  readonly windows: readonly SeriesWindow[];
}

/**
 * Every window start of a range, in order, also those without any series. Between two of them others have
 * their turn: a group takes a member for dead that judges for seconds on end.
 */
export async function* eachWindow(
  client: ClickHouseClient,
  { fromMs, toMs, windowMs }: WindowRange,
): AsyncGenerator<WindowsAt, void> {
  const pieceMs = windowMs * WINDOWS_AT_ONCE;
  for (let pieceFromMs = fromMs; pieceFromMs < toMs; pieceFromMs += pieceMs) {
    const pieceToMs = Math.min(toMs, pieceFromMs + pieceMs);
    const windows = await readWindows(client, { fromMs: pieceFromMs, toMs: pieceToMs, windowMs });
    let at = 0;
    for (let startMs = pieceFromMs; startMs < pieceToMs; startMs += windowMs) {
      const from = at;
      while (at < windows.length && windows[at]?.windowStartMs === startMs) at++;
      yield { startMs, windows: windows.slice(from, at) };
      await systemClock.breathe();
    }
  }
}

/** The same, those together that a detector judges faster so. */
export async function* eachBlock(
  client: ClickHouseClient,
  range: WindowRange,
): AsyncGenerator<readonly WindowsAt[], void> {
  let block: WindowsAt[] = [];
  for await (const at of eachWindow(client, range)) {
    const [first] = block;
    if (first !== undefined && !areOfOneBlock(first.startMs, at.startMs)) {
      yield block;
      block = [];
    }
    block.push(at);
  }
  if (block.length > 0) yield block;
}
