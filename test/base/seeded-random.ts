/**
 * Test data from a seed: a stream of numbers in [0, 1), the same on every machine. It keeps its algorithm:
 * what is recorded of a run depends on it. Traffic has `Random` of src/generate instead.
 */
export type Stream = (seed: number) => () => number;

/** Xorshift of 32 bits (Marsaglia 2003): seeds of the simulator. */
export const xorshift32: Stream = (seed) => {
  let state = (Math.imul(seed | 0, 0x9e3779b1) ^ 0x5bd1e995) | 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  for (let i = 0; i < 8; i++) next();
  return next;
};

/** Mulberry32 (Ettinger 2017): scenarios and evaluations. */
export const mulberry32: Stream = (seed) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** A Weyl sequence mixed by two multiplications: accuracy of sketches. */
export const weyl32: Stream = (seed) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
};

/** Draws from a stream. */
export class SeededRandom {
  /** Uniform in [0, 1). */
  readonly unit: () => number;

  constructor(seed: number, stream: Stream = xorshift32) {
    this.unit = stream(seed);
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

  /** Standard normal (Box-Muller). */
  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.unit()));
    return radius * Math.cos(2 * Math.PI * this.unit());
  }
}
