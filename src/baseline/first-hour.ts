import type { ArenaScope } from '../memory/arena.ts';
import type { TDigest } from '../sketch/t-digest.ts';
import type { StateArchive } from '../snapshot/archive.ts';
import { DurationHistogram } from './durations/duration-histogram.ts';

/** Pieces of a series' first hour. */
const pieceMs = 10 * 60_000;
const maxPieces = 6;

/** Durations of a stage over some minutes. */
export interface Piece {
  readonly startMs: number;
  readonly endMs: number;
  readonly digest: TDigest;
}

/**
 * Durations of a stage in the first hour of its series, kept until there is a baseline. A daily job may first
 * run with the series, or minutes after it, with little to compare it with. Later windows show what it was.
 *
 * Memory: some 3 KB a piece, as long as the baseline holds that hour.
 */
export class FirstHour {
  readonly #scope: ArenaScope;
  readonly #pieces: DurationHistogram[] = [];
  #startMs = Number.NaN;

  constructor(scope: ArenaScope) {
    this.#scope = scope;
  }

  /** Adds a window; those after the hour are ignored. */
  observe(windowStartMs: number, digest: TDigest): void {
    if (Number.isNaN(this.#startMs)) this.#startMs = windowStartMs;
    const index = Math.floor((windowStartMs - this.#startMs) / pieceMs);
    if (index >= maxPieces) return;
    while (this.#pieces.length <= index) this.#pieces.push(DurationHistogram.in(this.#scope));
    this.#pieces[index]?.add(digest);
  }

  /** Returns true if the hour ended by that time. */
  isBefore(ms: number): boolean {
    return this.#startMs + maxPieces * pieceMs <= ms;
  }

  get pieces(): Piece[] {
    return this.#pieces.map((durations, index) => {
      const startMs = this.#startMs + index * pieceMs;
      return { startMs, endMs: startMs + pieceMs, digest: DurationHistogram.digestOf([durations]) };
    });
  }

  release(): void {
    for (const piece of this.#pieces.splice(0)) piece.release();
  }

  serialize(state: StateArchive): void {
    state.section('first hour', 1, () => {
      this.#startMs = state.number(this.#startMs);
      const pieces = state.list(this.#pieces, (piece = DurationHistogram.in(this.#scope)) => {
        piece.serialize(state);
        return piece;
      });
      this.#pieces.splice(0, this.#pieces.length, ...pieces);
    });
  }
}
