/** Numbers that tune how much is read at once. */
const tuned = {
  /** Rows of a piece: some 100 MB in ClickHouse, and a second or two of work here. */
  rows: 150_000,
  /** Windows of the first piece, of whose rows nothing is known. */
  first: 4,
  /** Windows of a piece, however few rows they have: an hour of windows of ten seconds. */
  most: 360,
  /** Pieces that were read without a failure, after which a larger one is tried again. */
  patience: 8,
} as const;

/**
 * How many windows are read at once. It follows the rows that windows have: a piece is at most twice as
 * long as the one before. What was too much for ClickHouse is halved, down to one window, and grows again
 * later.
 */
export class PieceSize {
  #next: number = tuned.first;
  /** More windows than these were too much, a short while ago. */
  #limit: number = tuned.most;
  #sinceFailure = 0;

  /** Windows of the next piece. */
  get windows(): number {
    return this.#next;
  }

  /** A piece of so many windows had so many rows. */
  succeeded(windows: number, rows: number): void {
    this.#sinceFailure += 1;
    if (this.#sinceFailure >= tuned.patience) {
      this.#sinceFailure = 0;
      this.#limit = Math.min(tuned.most, 2 * this.#limit);
    }
    // A gap says nothing of the size of the windows after it.
    if (rows === 0) return;
    const fitting = Math.floor((tuned.rows * windows) / rows);
    this.#next = Math.max(1, Math.min(fitting, 2 * windows, this.#limit));
  }

  /** A piece of so many windows was too much; false where there is no smaller one. */
  failed(windows: number): boolean {
    this.#sinceFailure = 0;
    if (windows <= 1) return false;
    this.#limit = Math.floor(windows / 2);
    this.#next = this.#limit;
    return true;
  }
}
