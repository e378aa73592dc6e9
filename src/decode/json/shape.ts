import { Pattern } from './pattern.ts';

/** Maximum number of steps, more than fields or stages of an event. */
const MAX_STEPS = 80;
/** Maximum bytes between two values. */
const MAX_STEP_BYTES = 96;
/** Events of another shape, nearly in a row, after which a shape is learned again. */
const MISSES_TO_LEARN = 16;

/**
 * Bytes between the values of a JSON object that a producer repeats: brace or comma, key, colon and white
 * space. They are compared step by step as a whole, which gives the next value's field without looking at its
 * key.
 *
 * It is recorded from an object that was valid. So an object with the same bytes between its values has the
 * same keys in the same order, all distinct and all UTF-8.
 */
export class Shape {
  readonly #steps: Pattern[] = [];
  readonly #starts = new Int32Array(MAX_STEPS);
  readonly #ends = new Int32Array(MAX_STEPS);
  readonly #meanings = new Int32Array(MAX_STEPS);
  #recorded = 0;
  #misses = MISSES_TO_LEARN;
  /** Number of steps, the closing brace not included; 0 while nothing is learned. */
  count = 0;

  /** Bytes before value `n`; the `id` is the recorded meaning. */
  step(n: number): Pattern {
    return this.#steps[n] as Pattern;
  }

  forget(): void {
    this.count = 0;
    this.#misses = MISSES_TO_LEARN;
  }

  /** Counts an object of another shape, which is then read again and recorded. */
  miss(): void {
    this.#misses++;
    this.#recorded = 0;
  }

  /** Records bytes `[start, end)` between two values, and the meaning of the value after them. */
  record(start: number, end: number, meaning: number): void {
    const n = this.#recorded++;
    if (n >= MAX_STEPS) return;
    this.#starts[n] = start;
    this.#ends[n] = end;
    this.#meanings[n] = meaning;
  }

  /** Learns the recorded object, which is valid, after enough misses. Allocates for the first shapes only. */
  learn(bytes: Uint8Array): void {
    if (this.#misses < MISSES_TO_LEARN) return;
    this.#misses = 0;
    this.count = 0;
    if (this.#recorded > MAX_STEPS) return;
    for (let n = 0; n < this.#recorded; n++) {
      const start = this.#starts[n] as number;
      const end = this.#ends[n] as number;
      if (end - start > MAX_STEP_BYTES) return;
      const step = this.#steps[n] ?? new Pattern();
      this.#steps[n] = step;
      step.set(bytes, start, end, this.#meanings[n] as number);
    }
    this.count = this.#recorded;
  }
}
