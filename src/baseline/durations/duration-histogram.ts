import type { ArenaScope } from '../../memory/arena.ts';
import { RangeSums } from '../../memory/range-sums.ts';
import { highWord } from '../../sketch/high-word.ts';
import { TDigest } from '../../sketch/t-digest.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import { DurationKernel } from './duration-kernel.ts';

const kernel = DurationKernel.shared();

/** A bucket is an octave's 32nd: exponent and the top 5 bits of the mantissa. */
const SHIFT = 20 - 5;
/** Durations below count as this one: 2^-10 ms. */
const leastMs = 2 ** -10;

/**
 * What many digests add up to, in buckets of 1.6 to 3.1 % that know their count and their sum: as a
 * bucket's mean is exact, a quantile is off by far less than its width. Adding a digest costs a nanosecond
 * or two a centroid, where merging it into another one costs fifty.
 *
 * Memory: 16 bytes a bucket; latencies of one stage touch some 200.
 */
export class DurationHistogram {
  /** Of each bucket how many, and their sum. */
  readonly #buckets: RangeSums;

  private constructor(buckets: RangeSums) {
    this.#buckets = buckets;
  }

  /** An empty one, which takes its room from there. */
  static in(rooms: ArenaScope): DurationHistogram {
    return new DurationHistogram(new RangeSums(2, rooms));
  }

  /** One that is empty, with room for what another one has. */
  static like(other: DurationHistogram): DurationHistogram {
    return new DurationHistogram(RangeSums.like(other.#buckets));
  }

  /** What several add up to: one centroid a bucket. */
  static digestOf(parts: readonly DurationHistogram[]): TDigest {
    const buckets = parts.map((part) => part.#buckets);
    const { means, weights, size } = DurationKernel.shared().merge(buckets);
    return TDigest.fromCentroids(means, weights, size);
  }

  add(digest: TDigest): void {
    kernel.add(digest, this.#buckets, bucketOf, leastMs);
  }

  /** Nobody asks for it any more. */
  release(): void {
    this.#buckets.release();
  }

  serialize(state: StateArchive): void {
    state.section('duration histogram', 2, () => {
      this.#buckets.serialize(state);
    });
  }
}

function bucketOf(ms: number): number {
  return highWord(Math.max(ms, leastMs)) >>> SHIFT;
}
