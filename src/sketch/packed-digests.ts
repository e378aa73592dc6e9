import { TDigest } from './t-digest.ts';

const firstRoom = 512;

/**
 * Makes digests that are looked at together, in one array of floats without a gap: those of all stages of a
 * series' window. Means and weights are rounded to Float32, as ClickHouse has them; whole weights are exact
 * up to 2^24.
 *
 * Memory: what it makes takes 8 bytes a centroid, in an array as long as that. Its own room is kept.
 */
export class PackedDigests {
  #centroids = new Float32Array(firstRoom);
  #end = 0;
  #sizes: number[] = [];

  /** Adds a digest of the first `n` of the given centroids. Means ascend, weights are positive. */
  add(means: ArrayLike<number>, weights: ArrayLike<number>, n: number = means.length): void {
    const at = this.#end;
    this.#end += 2 * n;
    if (this.#end > this.#centroids.length) {
      const more = new Float32Array(2 * this.#end);
      more.set(this.#centroids);
      this.#centroids = more;
    }
    const all = this.#centroids;
    for (let i = 0; i < n; i++) {
      all[at + i] = means[i] as number;
      all[at + n + i] = weights[i] as number;
    }
    this.#sizes.push(n);
  }

  /** Those that were added since the last time, in that order, in an array of their own. */
  drain(): TDigest[] {
    const centroids = this.#centroids.slice(0, this.#end);
    const sizes = this.#sizes;
    this.#end = 0;
    this.#sizes = [];
    let from = 0;
    return sizes.map((size) => {
      const at = from;
      from += 2 * size;
      return new TDigest(centroids, at, size);
    });
  }
}
