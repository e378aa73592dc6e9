import { TDigest } from '../sketch/t-digest.ts';
import { mergedCentroids, thresholdRequests } from './compare-options.ts';
import { lessMargin, type Margin, withMargin } from './margin.ts';
import type { SlowCount } from './pair-evidence.ts';

/** Durations of one stage in one minute, and the baseline's before it. */
export interface TailMinute {
  readonly candidate: TDigest;
  readonly baseline: TDigest;
  /** The baseline's earlier minutes, also those without the candidate. */
  readonly before: TDigest;
}

const none = TDigest.fromCentroids([], []);

/** Durations of one stage as the minutes come: what evidence is counted from. */
export class TailMinutes {
  readonly minutes: TailMinute[] = [];
  #before = none;
  #candidate = none;
  #baseline = none;

  /** Adds a minute of the baseline, with one of the candidate if it has requests. */
  observe(candidate: TDigest | undefined, baseline: TDigest): void {
    if (candidate !== undefined) {
      this.minutes.push({ candidate, baseline, before: this.#before });
      this.#candidate = merged(this.#candidate, candidate);
      this.#baseline = merged(this.#baseline, baseline);
    }
    this.#before = merged(this.#before, baseline);
  }

  /** The candidate's durations in all minutes of both. */
  get candidate(): TDigest {
    return this.#candidate;
  }

  /** The baseline's durations in the same minutes. */
  get baseline(): TDigest {
    return this.#baseline;
  }
}

/**
 * Slow requests of both versions in one minute: those beyond the baseline's quantile, and the candidate's
 * beyond that with a margin.
 *
 * The threshold comes from the baseline's earlier minutes, never from which version of this one was slower.
 * While they are few, this minute's requests of both count too, the candidate's less the margin: that is the
 * same with the versions swapped.
 */
export function slowCounts(
  { candidate, baseline, before }: TailMinute,
  q: number,
  margin: Margin,
): { readonly candidate: SlowCount; readonly baseline: SlowCount } {
  const isEnough = before.count >= thresholdRequests;
  const past = isEnough ? before : merged(before, baseline, lessMargin(candidate, margin));
  const thresholdMs = past.quantile(q);
  return {
    candidate: slowOnes(candidate, withMargin(thresholdMs, margin)),
    baseline: slowOnes(baseline, thresholdMs),
  };
}

function slowOnes(digest: TDigest, thresholdMs: number): SlowCount {
  return { slow: digest.count * (1 - digest.cdf(thresholdMs)), requests: digest.count };
}

function merged(...digests: readonly TDigest[]): TDigest {
  const some = digests.filter(({ size }) => size > 0);
  return some.length === 1 ? (some[0] as TDigest) : TDigest.merge(some, mergedCentroids);
}
