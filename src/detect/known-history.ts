import type { StateArchive } from '../snapshot/archive.ts';

/**
 * The time from which a detector knows windows, where it was rebuilt from the newest part of what is stored.
 * It is short until it is as long as a baseline. A history that was read as a whole is not short, however
 * young.
 */
export class KnownHistory {
  readonly #baselineMs: number;
  /** Start of the windows that were read; NaN where all were. */
  #truncatedMs = Number.NaN;

  constructor(baselineMs: number) {
    this.#baselineMs = baselineMs;
  }

  /** Says that windows before that time are stored and were not read. */
  truncate(fromMs: number): void {
    this.#truncatedMs = fromMs;
  }

  /** End of the time in which it is short; NaN where it never was. */
  get shortUntilMs(): number {
    return this.#truncatedMs + this.#baselineMs;
  }

  /** Its start, as long as it is short; else undefined. */
  shortFromMs(startMs: number): number | undefined {
    return startMs < this.shortUntilMs ? this.#truncatedMs : undefined;
  }

  serialize(state: StateArchive): void {
    this.#truncatedMs = state.number(this.#truncatedMs);
  }
}
