/** Test data from a seed: the same numbers on every machine (xorshift, 32 bits, Marsaglia 2003). */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = (Math.imul(seed | 0, 0x9e3779b1) ^ 0x5bd1e995) | 1;
    for (let i = 0; i < 8; i++) this.unit();
  }

  /** Uniform in [0, 1). */
  unit(): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) / 2 ** 32;
  }

  /** A whole number in [low, high]. */
  between(low: number, high: number): number {
    return low + Math.floor(this.unit() * (high - low + 1));
  }

  chance(share: number): boolean {
    return this.unit() < share;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.between(0, choices.length - 1)] as T;
  }
}
