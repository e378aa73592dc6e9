import { TDigest } from './t-digest.ts';

const initialLength = 512;

/**
 * Packs digests that are read together, those of all stages of a series' window, into one array of floats.
 * Means and weights are rounded to Float32, as in ClickHouse; whole weights are exact up to 2^24.
 *
 * Memory: 8 bytes a centroid, in an array of exactly that length, and a buffer that is reused.
 */
export class PackedDigests {
  #centroids = new Float32Array(initialLength);
  #end = 0;
  #sizes: number[] = [];

  /** Adds a digest of the first `n` centroids. Means ascend, weights are positive. */
  add(means: ArrayLike<number>, weights: ArrayLike<number>, n: number = means.length): void {
    const offset = this.#end;
    this.#end += 2 * n;
    if (this.#end > this.#centroids.length) {
      const larger = new Float32Array(2 * this.#end);
      larger.set(this.#centroids);
      this.#centroids = larger;
    }
    const packed = this.#centroids;
    for (let i = 0; i < n; i++) {
      packed[offset + i] = means[i] as number;
      packed[offset + n + i] = weights[i] as number;
    }
    this.#sizes.push(n);
  }

  /** Returns the digests added since the last call, in order, in a new array. */
  drain(): TDigest[] {
    const centroids = this.#centroids.slice(0, this.#end);
    const sizes = this.#sizes;
    this.#end = 0;
    this.#sizes = [];
    let from = 0;
    return sizes.map((size) => {
      const offset = from;
      from += 2 * size;
      return new TDigest(centroids, offset, size);
    });
  }
}
