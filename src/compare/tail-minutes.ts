import { TDigest } from '../sketch/t-digest.ts';
import { thresholdRequests } from './compare-options.ts';
import { MergedDigests, mergedOf } from './merged-digests.ts';
import type { SlowCount } from './pair-evidence.ts';

const none = Number.NEGATIVE_INFINITY;

/** Durations of one stage in one minute, and the baseline's before it. */
export interface TailMinute {
  readonly candidate: TDigest;
  readonly baseline: TDigest;
  /** The baseline's earlier minutes, also those without the candidate; a few of the last may be missing. */
  readonly before: TDigest;
}

/** Growth of the baseline's requests after which the thresholds are renewed. */
const renewedAfter = 1.1;

/** Durations of one stage as the minutes come: what evidence is counted from. */
export class TailMinutes {
  readonly minutes: TailMinute[] = [];
  readonly #history = new MergedDigests();
  readonly #candidate = new MergedDigests();
  readonly #baseline = new MergedDigests();
  #before = this.#history.merged;

  /** Adds a minute of the baseline, with one of the candidate if it has requests. */
  observe(candidate: TDigest | undefined, baseline: TDigest): void {
    if (candidate !== undefined) {
      this.minutes.push({ candidate, baseline, before: this.#before });
      this.#candidate.add(candidate);
      this.#baseline.add(baseline);
    }
    this.#history.add(baseline);
    if (this.#history.count >= renewedAfter * this.#before.count) {
      this.#before = this.#history.merged;
    }
  }

  /** The candidate's durations in all minutes of both. */
  get candidate(): TDigest {
    return this.#candidate.merged;
  }

  /** The baseline's durations in the same minutes. */
  get baseline(): TDigest {
    return this.#baseline.merged;
  }
}

/**
 * A smaller difference is a tie: the rounding of durations and of margins, of the value; and a microsecond, to
 * which durations are kept, so that 0 ms ties with 0 ms.
 */
const tie = { share: 1e-6, ms: 0.001 } as const;

const tieMs = (ms: number) => Math.max(tie.share * Math.abs(ms), tie.ms);

/**
 * Slow requests of both versions in one minute: those beyond the baseline's quantile, and the candidate's
 * beyond that with a margin.
 *
 * The threshold comes from the baseline's earlier minutes, never from which version of this one was slower.
 * While they are few, this minute's requests of both count too, the candidate's less the margin: that is the
 * same with the versions swapped.
 *
 * @param ties whether requests that take just as long as the threshold are slow, of both versions. Where all
 * take the same time, both versions have all of them as slow ones, or none.
 */
export function slowCounts(
  { candidate, baseline, before }: TailMinute,
  q: number,
  margin: Margin,
  ties: 'slow' | 'fast',
): { readonly candidate: SlowCount; readonly baseline: SlowCount } {
  const isEnough = before.count >= thresholdRequests;
  const past = isEnough ? before : mergedOf([before, baseline, lessMargin(candidate, margin)]);
  const thresholdMs = past.quantile(q);
  const sign = ties === 'slow' ? -1 : 1;
  const edgeOf = (ms: number) => ms + sign * tieMs(ms);
  return {
    candidate: slowOnes(candidate, edgeOf(withMargin(thresholdMs, margin))),
    baseline: slowOnes(baseline, edgeOf(thresholdMs)),
  };
}

function slowOnes(digest: TDigest, thresholdMs: number): SlowCount {
  return { slow: digest.count * (1 - digest.cdf(thresholdMs)), requests: digest.count };
}

/** The time that the candidate's requests may take longer than the baseline's. */
interface Margin {
  readonly ratio: number;
  /** Difference that is allowed where the ratio allows less, in milliseconds. @default none */
  readonly addedMs?: number;
}

/** The longest duration of the candidate that is no worse than one of the baseline. */
function withMargin(ms: number, { ratio, addedMs = none }: Margin): number {
  return Math.max(ms * ratio, ms + addedMs);
}

/** The candidate's durations as if the margin were used up: what is compared with the baseline's. */
function lessMargin(digest: TDigest, { ratio, addedMs = none }: Margin): TDigest {
  return TDigest.fromCentroids(
    digest.means.map((ms) => Math.min(ms / ratio, ms - addedMs)),
    digest.weights,
  );
}
