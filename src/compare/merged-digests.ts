import { TDigest } from '../sketch/t-digest.ts';
import { mergedCentroids } from './compare-options.ts';

/** Digests that wait before they are merged into one: merging many at once costs less, and is more exact. */
const mostWaiting = 32;

/** A sum of digests. Adding costs little, reading a merge of at most `mostWaiting` digests. */
export class MergedDigests {
  #count = 0;
  #sum: TDigest | undefined;
  #waiting: TDigest[] = [];

  add(digest: TDigest): void {
    this.#count += digest.count;
    if (digest.size > 0) this.#waiting.push(digest);
    if (this.#waiting.length >= mostWaiting) this.#merge();
  }

  get count(): number {
    return this.#count;
  }

  get merged(): TDigest {
    this.#merge();
    return this.#sum ?? mergedOf([]);
  }

  #merge(): void {
    if (this.#waiting.length === 0) return;
    const sum = this.#sum === undefined ? [] : [this.#sum];
    this.#sum = mergedOf([...sum, ...this.#waiting]);
    this.#waiting = [];
  }
}

/** Merges digests into one of `mergedCentroids`; a single one stays as it is. */
export function mergedOf(digests: readonly TDigest[]): TDigest {
  const some = digests.filter(({ size }) => size > 0);
  return some.length === 1 ? (some[0] as TDigest) : TDigest.merge(some, mergedCentroids);
}
