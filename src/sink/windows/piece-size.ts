/** Limits of one read. */
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

  get windows(): number {
    return this.#next;
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

  /** Records a piece that was too large; returns false if it cannot be smaller. */
  failed(windows: number): boolean {
    this.#sinceFailure = 0;
    if (windows <= 1) return false;
    this.#limit = Math.floor(windows / 2);
    this.#next = this.#limit;
    return true;
  }
}
