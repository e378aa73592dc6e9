const TWO_POW_32 = 4_294_967_296;
/** Beyond this, exp(-λ) approaches the smallest double; larger Poisson means are drawn in parts. */
const POISSON_PART = 500;

/**
 * A seeded generator of random numbers that gives the same integers on every machine. It is xoshiro128** with
 * 128 bits of state (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021).
 *
 * A child of `split` depends only on this generator's seed and the child's name, not on the number of draws.
 * So an added consumer changes the numbers of no other one. `seek` gives each index its own stream: the n-th
 * item draws the same numbers whatever earlier items drew.
 *
 * Not for secrets. O(1) a number unless stated otherwise; only `split` allocates.
 */
export class Random {
  readonly #keyHigh: number;
  readonly #keyLow: number;
  #a = 0;
  #b = 0;
  #c = 0;
  #d = 0;
  #spareNormal = Number.NaN;

  /** @param seed a string or a number; a number counts by its decimal text */
  constructor(seed: number | string);
  constructor(keyHigh: number, keyLow: number);
  constructor(seed: number | string, keyLow?: number) {
    if (keyLow !== undefined && typeof seed === 'number') {
      this.#keyHigh = seed;
      this.#keyLow = keyLow;
    } else {
      this.#keyHigh = hashText(String(seed), 0x811c9dc5);
      this.#keyLow = hashText(String(seed), 0x6b43a9b5);
    }
    this.seek(0, 0);
  }

  /** Returns a generator for one purpose, the same for the same seed and name. */
  split(name: string): Random {
    return new Random(hashText(name, this.#keyHigh), hashText(name, this.#keyLow));
  }

  /** Moves to the beginning of the stream of two indices, each modulo 2^32. */
  seek(first: number, second: number): void {
    let x = mix(this.#keyHigh ^ mix(first + 0x9e3779b9));
    let y = mix(this.#keyLow ^ mix(second + 0x85ebca6b));
    x = mix(x + Math.imul(y, 0x9e3779b1));
    y = mix(y + Math.imul(x, 0x85ebca77));
    this.#a = x;
    this.#b = y;
    this.#c = mix(x ^ 0xc2b2ae3d);
    // A state of all zeros would stay zero.
    this.#d = mix(y ^ 0x27d4eb2f) | 1;
    this.#spareNormal = Number.NaN;
  }

  /** Returns 32 random bits as an integer in [0, 2^32). */
  uint32(): number {
    const b = this.#b;
    const times5 = Math.imul(b, 5);
    const result = Math.imul((times5 << 7) | (times5 >>> 25), 9) >>> 0;
    const shifted = b << 9;
    let c = this.#c ^ this.#a;
    const d = this.#d ^ b;
    this.#b = b ^ c;
    this.#a ^= d;
    c ^= shifted;
    this.#c = c;
    this.#d = (d << 11) | (d >>> 21);
    return result;
  }

  /** Uniform in [0, 1), 53 bits. */
  uniform(): number {
    const high = this.uint32() >>> 5;
    const low = this.uint32() >>> 6;
    return (high * 67_108_864 + low) / 9_007_199_254_740_992;
  }

  /** Returns true with probability `p`. One 32-bit draw for every `p`. */
  chance(p: number): boolean {
    return this.uint32() < p * TWO_POW_32;
  }

  /** Standard normal: Marsaglia's polar method. */
  normal(): number {
    const spare = this.#spareNormal;
    if (!Number.isNaN(spare)) {
      this.#spareNormal = Number.NaN;
      return spare;
    }
    for (;;) {
      const u = this.uint32() / 2_147_483_648 - 1;
      const v = this.uint32() / 2_147_483_648 - 1;
      const square = u * u + v * v;
      if (square >= 1 || square === 0) continue;
      const scale = Math.sqrt((-2 * Math.log(square)) / square);
      this.#spareNormal = v * scale;
      return u * scale;
    }
  }

  /** Lognormal with the given median; `sigma` is the deviation of its logarithm. */
  lognormal(median: number, sigma: number): number {
    return median * Math.exp(sigma * this.normal());
  }

  /** Exponential with the given mean. */
  exponential(mean: number): number {
    return -mean * Math.log(1 - this.uniform());
  }

  /** Pareto: at least `least`, beyond x with probability (least / x)^alpha. */
  pareto(least: number, alpha: number): number {
    return least * (1 - this.uniform()) ** (-1 / alpha);
  }

  /** Gamma with mean 1 and the given variance (Marsaglia and Tsang, 2000). */
  gammaMeanOne(variance: number): number {
    if (variance <= 0) return 1;
    const shape = 1 / variance;
    // Below shape 1 the method draws for shape + 1 and scales down.
    const boosted = shape < 1 ? shape + 1 : shape;
    const shrink = shape < 1 ? (1 - this.uniform()) ** (1 / shape) : 1;
    const d = boosted - 1 / 3;
    const c = 1 / Math.sqrt(9 * d);
    for (;;) {
      const x = this.normal();
      const root = 1 + c * x;
      if (root <= 0) continue;
      const v = root * root * root;
      const u = 1 - this.uniform();
      if (Math.log(u) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v * variance * shrink;
    }
  }

  /** Poisson with the given mean, by products of uniforms (Knuth): O(mean). */
  poisson(mean: number): number {
    let count = 0;
    for (let rest = mean; rest > 0; rest -= POISSON_PART) {
      const floor = Math.exp(-Math.min(rest, POISSON_PART));
      for (let product = this.uniform(); product > floor; product *= this.uniform()) count++;
    }
    return count;
  }
}

/** The final mix of MurmurHash3 (Appleby), which spreads every bit over all 32. */
function mix(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** FNV-1a over UTF-16 units from a given basis, mixed. */
function hashText(text: string, basis: number): number {
  let hash = basis | 0;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return mix(hash ^ text.length);
}
