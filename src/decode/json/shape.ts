import { Pattern } from './pattern.ts';

/** More steps than an event has fields, or stages, are not learned. */
const MOST_STEPS = 80;
/** Nor is one with so many bytes between two values. */
const MOST_STEP_BYTES = 96;
/** Others of another shape in a row, or nearly, until the shape is learned anew. */
const PATIENCE = 16;

/**
 * What lies between the values of a JSON object that a producer writes over and over: brace or
 * comma, key, colon, with the white space that it likes. Compared as a whole, step by step, it
 * tells which value comes next without looking at any key.
 *
 * It is learned from an object that was found good, and noted while it was read: so whatever has
 * the same bytes between its values has the same keys in the same order, none of them twice, and all
 * of them UTF-8.
 */
export class Shape {
  readonly #steps: Pattern[] = [];
  readonly #starts = new Int32Array(MOST_STEPS);
  readonly #ends = new Int32Array(MOST_STEPS);
  readonly #meanings = new Int32Array(MOST_STEPS);
  #noted = 0;
  #misses = PATIENCE;
  /** Steps that are known, the closing brace not among them; 0 while nothing is learned. */
  count = 0;

  /** What comes before value `n`; its `id` is what was noted as the meaning. */
  step(n: number): Pattern {
    return this.#steps[n] as Pattern;
  }

  /** Forgets what was learned. */
  forget(): void {
    this.count = 0;
    this.#misses = PATIENCE;
  }

  /** An object was of another shape; it is read again, and noted. */
  miss(): void {
    this.#misses++;
    this.#noted = 0;
  }

  /** Notes bytes `[start, end)` between two values, and what the value after them means. */
  record(start: number, end: number, meaning: number): void {
    const n = this.#noted++;
    if (n >= MOST_STEPS) return;
    this.#starts[n] = start;
    this.#ends[n] = end;
    this.#meanings[n] = meaning;
  }

  /** The object that was noted is good: it is learned if it is time. Allocates for the first ones only. */
  learn(bytes: Uint8Array): void {
    if (this.#misses < PATIENCE) return;
    this.#misses = 0;
    this.count = 0;
    if (this.#noted > MOST_STEPS) return;
    for (let n = 0; n < this.#noted; n++) {
      const start = this.#starts[n] as number;
      const end = this.#ends[n] as number;
      if (end - start > MOST_STEP_BYTES) return;
      const step = this.#steps[n] ?? new Pattern();
      this.#steps[n] = step;
      step.set(bytes, start, end, this.#meanings[n] as number);
    }
    this.count = this.#noted;
  }
}
