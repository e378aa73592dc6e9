import type { ArenaScope } from '../memory/arena.ts';
import type { TDigest } from '../sketch/t-digest.ts';
import type { StateArchive } from '../snapshot/archive.ts';
import { DurationHistogram } from './durations/duration-histogram.ts';

/** A series' first hour, in pieces. */
const pieceMs = 10 * 60_000;
const mostPieces = 6;

/** What a stage took for some minutes. */
export interface Piece {
  readonly startMs: number;
  readonly endMs: number;
  readonly digest: TDigest;
}

/**
 * What a stage took in the first hour of its series, until it is known what is usual. What comes every day and first
 * came with the series, or minutes after it, has nothing, or little, to be told from; by what came afterwards
 * it can be.
 *
 * Memory: some 3 KB a piece, for as long as the baseline has that hour.
 */
export class FirstHour {
  readonly #rooms: ArenaScope;
  readonly #pieces: DurationHistogram[] = [];
  #startMs = Number.NaN;

  constructor(rooms: ArenaScope) {
    this.#rooms = rooms;
  }

  /** Takes a window; windows come in order, and those after the hour are left out. */
  observe(windowStartMs: number, digest: TDigest): void {
    if (Number.isNaN(this.#startMs)) this.#startMs = windowStartMs;
    const place = Math.floor((windowStartMs - this.#startMs) / pieceMs);
    if (place >= mostPieces) return;
    while (this.#pieces.length <= place) this.#pieces.push(DurationHistogram.in(this.#rooms));
    this.#pieces[place]?.add(digest);
  }

  /** Whether it was over by then. */
  isBefore(ms: number): boolean {
    return this.#startMs + mostPieces * pieceMs <= ms;
  }

  /** Its pieces, in order. */
  get pieces(): Piece[] {
    return this.#pieces.map((durations, place) => {
      const startMs = this.#startMs + place * pieceMs;
      return { startMs, endMs: startMs + pieceMs, digest: DurationHistogram.digestOf([durations]) };
    });
  }

  /** Nobody asks for it any more. */
  release(): void {
    for (const piece of this.#pieces.splice(0)) piece.release();
  }

  serialize(state: StateArchive): void {
    state.section('first hour', 1, () => {
      this.#startMs = state.number(this.#startMs);
      const pieces = state.list(this.#pieces, (piece = DurationHistogram.in(this.#rooms)) => {
        piece.serialize(state);
        return piece;
      });
      this.#pieces.splice(0, this.#pieces.length, ...pieces);
    });
  }
}
