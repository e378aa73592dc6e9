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
  options: ProgressOptions,
): Progress {
  const { label, clock = systemClock } = options;
  const total = Number.isFinite(options.total) ? options.total : undefined;
  return io.isErrTty && io.env.TERM !== 'dumb'
    ? createBar(io, label, total, clock)
    : createLines(io, label, total);
}

function createBar(
  io: Pick<Io, 'err' | 'env'>,
  label: string,
  total: number | undefined,
  clock: WallClock,
): Progress {
  const { dim } = colorsOf({ color: !io.env.NO_COLOR });
  let drawnMs = Number.NEGATIVE_INFINITY;
  let finished = false;
  return {
    update(done, detail = '') {
      const nowMs = clock.nowMs();
      if (finished || nowMs - drawnMs < REDRAW_MS) return;
      drawnMs = nowMs;
      let bar = '';
      if (total !== undefined) {
        const part = partOf(done, total);
        const full = Math.floor(part * BAR_CELLS);
        const percent = `${Math.floor(part * 100)}`.padStart(3);
        bar = ` ${'█'.repeat(full)}${dim('░'.repeat(BAR_CELLS - full))} ${percent} %`;
      }
      io.err(`\r\u001b[2K${label}${bar}${detail === '' ? '' : `  ${detail}`}`);
    },
    finish() {
      if (!finished && drawnMs !== Number.NEGATIVE_INFINITY) io.err('\r\u001b[2K');
      finished = true;
    },
  };
}

function createLines(io: Pick<Io, 'err'>, label: string, total: number | undefined): Progress {
  let nextQuarter = 0;
  let finished = false;
  return {
    update(done, detail = '') {
      if (finished || total === undefined) return;
      const quarter = Math.floor(partOf(done, total) * 4);
      if (quarter < nextQuarter) return;
      // A jump over several marks is one line: the last mark passed.
      nextQuarter = quarter + 1;
      io.err(`${label} ${quarter * 25} %${detail === '' ? '' : `  ${detail}`}\n`);
    },
    finish() {
      finished = true;
    },
  };
}

function partOf(done: number, total: number): number {
  return total <= 0 ? 1 : Math.min(1, Math.max(0, done / total));
}
