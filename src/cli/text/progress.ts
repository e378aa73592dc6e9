import { systemClock, type WallClock } from '../../base/clock.ts';
import type { Io } from '../io.ts';
import { colorsOf } from './colors.ts';

export interface ProgressOptions {
  readonly label: string;
  /** Count at which `update` is complete; undefined or infinite if unknown. */
  readonly total: number | undefined;
  readonly clock?: WallClock;
}

export interface Progress {
  /** Reports the progress, with an optional detail. */
  update(done: number, detail?: string): void;
  /** Removes the bar, or writes the last line. Safe to call twice. */
  finish(): void;
}

const REDRAW_MS = 100;
const BAR_CELLS = 24;

/**
 * Shows progress on standard error. A terminal gets one line, redrawn at most ten times a second. A file or
 * pipe gets a plain line at 0, 25, 50, 75 and 100 %, and none where the total is unknown.
 */
export function createProgress(
  io: Pick<Io, 'err' | 'env' | 'isErrTty'>,
  { label, total, clock = systemClock }: ProgressOptions,
): Progress {
  const isBar = io.isErrTty && io.env.TERM !== 'dumb';
  const { dim } = colorsOf({ color: !io.env.NO_COLOR });
  let drawnMs = Number.NEGATIVE_INFINITY;
  let nextQuarter = 0;
  let finished = false;
  const partOf = (done: number) =>
    total === undefined || !Number.isFinite(total)
      ? undefined
      : total <= 0
        ? 1
        : Math.min(1, Math.max(0, done / total));
  const drawBar = (part: number | undefined, detail: string) => {
    const nowMs = clock.nowMs();
    if (nowMs - drawnMs < REDRAW_MS) return;
    drawnMs = nowMs;
    const full = Math.floor((part ?? 0) * BAR_CELLS);
    const cells = `${'█'.repeat(full)}${dim('░'.repeat(BAR_CELLS - full))}`;
    const bar = part === undefined ? '' : ` ${cells} ${`${Math.floor(part * 100)}`.padStart(3)} %`;
    io.err(`\r\u001b[2K${label}${bar}${detail}`);
  };
  const drawLine = (part: number | undefined, detail: string) => {
    const quarter = part === undefined ? -1 : Math.floor(part * 4);
    if (quarter < nextQuarter) return;
    // A jump over several marks is one line: the last mark passed.
    nextQuarter = quarter + 1;
    io.err(`${label} ${quarter * 25} %${detail}\n`);
  };
  return {
    update(done, detail = '') {
      if (finished) return;
      (isBar ? drawBar : drawLine)(partOf(done), detail && `  ${detail}`);
    },
    finish() {
      if (!finished && drawnMs !== Number.NEGATIVE_INFINITY) io.err('\r\u001b[2K');
      finished = true;
    },
  };
}
