import { ClickHouseError } from '@clickhouse/client';
import { OperatorError } from '../../base/operator-error.ts';
import type { WindowRange } from './window-range.ts';

const tuned = {
  /** Rows of a piece: about 100 MB in ClickHouse, and one or two seconds of work here. */
  rows: 150_000,
  /** Windows of the first piece, whose rows are unknown. */
  first: 4,
  /** Windows of a piece with few rows: an hour of ten-second windows. */
  most: 360,
  /** Successful pieces before a larger one is tried again. */
  patience: 8,
} as const;

/** Windows that are read at once. */
export interface Piece extends WindowRange {
  readonly windows: number;
}

/**
 * Chooses how many windows are read at once, by the rows per window. A piece is at most twice as long as the
 * previous one. A piece that is too large for ClickHouse is halved, down to one window, and grows again
 * later.
 */
export class PieceSize {
  #next: number = tuned.first;
  /** The largest size that did not fail lately. */
  #limit: number = tuned.most;
  #sinceFailure = 0;

  /** The piece of a range to read next, from a window on. */
  piece({ toMs, windowMs }: WindowRange, fromMs: number): Piece {
    const windows = Math.min(this.#next, Math.ceil((toMs - fromMs) / windowMs));
    return { fromMs, toMs: Math.min(toMs, fromMs + windows * windowMs), windowMs, windows };
  }

  succeeded(windows: number, rows: number): void {
    this.#sinceFailure += 1;
    if (this.#sinceFailure >= tuned.patience) {
      this.#sinceFailure = 0;
      this.#limit = Math.min(tuned.most, 2 * this.#limit);
    }
    // A gap does not show the size of later windows.
    if (rows === 0) return;
    const fitting = Math.floor((tuned.rows * windows) / rows);
    this.#next = Math.max(1, Math.min(fitting, 2 * windows, this.#limit));
  }

  /**
   * Halves what is read next after a piece was too large for ClickHouse.
   *
   * @param what name of one window, for the error.
   * @returns the setting whose limit the piece exceeded.
   * @throws OperatorError if it was a single window; the same error if it has another reason.
   */
  failed(windows: number, error: unknown, what: string): string {
    const setting = limitingSetting(error);
    if (setting === undefined) throw error;
    if (windows <= 1) throw oneIsTooMuch(what, error, setting);
    this.#sinceFailure = 0;
    this.#limit = Math.floor(windows / 2);
    this.#next = this.#limit;
    return setting;
  }
}

/**
 * ClickHouse errors for a query that exceeds a limit, with the limiting setting: MEMORY_LIMIT_EXCEEDED,
 * TIMEOUT_EXCEEDED, TOO_SLOW, TOO_MANY_ROWS, TOO_MANY_BYTES, TOO_MANY_ROWS_OR_BYTES. Source: ClickHouse,
 * src/Common/ErrorCodes.cpp.
 */
const limitingSettings: ReadonlyMap<string, string> = new Map([
  ['241', 'max_memory_usage'],
  ['159', 'max_execution_time'],
  ['160', 'max_execution_time'],
  ['158', 'max_rows_to_read'],
  ['307', 'max_bytes_to_read'],
  ['396', 'max_result_bytes'],
]);

/** The setting whose limit a query exceeded; undefined for other errors. */
function limitingSetting(error: unknown): string | undefined {
  if (error instanceof ClickHouseError) return limitingSettings.get(error.code);
  // The client's own error.
  const isTimeout = error instanceof Error && /^Timeout error/.test(error.message);
  return isTimeout ? 'clickhouse.request_timeout' : undefined;
}

/** Error for a piece that is too large and cannot be smaller. */
function oneIsTooMuch(piece: string, error: unknown, setting: string): OperatorError {
  const message = (error as Error).message.split('\n', 1)[0];
  return new OperatorError(
    'TAILMARK_CLICKHOUSE_FAILED',
    `Cannot read for the detector: ${setting} must allow for ${piece} (${message})`,
    {
      hint: `Raise ${setting}, or use fewer dimensions: each series and stage takes some kilobytes.`,
      cause: error,
    },
  );
}
