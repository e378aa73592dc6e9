import type { CompareOptions } from './compare-options.ts';
import { EndpointEvidence } from './stage-test.ts';
import { binomialCounts } from './thinned-counts.ts';

/** Requests, and how many of them failed, or missed an objective. */
export interface BadCount {
  readonly requests: number;
  readonly bad: number;
}

const none: BadCount = { requests: 0, bad: 0 };

/**
 * The evidence on a share of requests: those that failed, or those that missed an objective.
 *
 * Cost: some 0.1 ms a minute.
 */
export class ShareTest {
  readonly evidence = new EndpointEvidence();
  readonly #options: CompareOptions;
  #candidate = none;
  #baseline = none;
  #baselineBefore = none;

  constructor(options: CompareOptions) {
    this.#options = options;
  }

  /** Sums over the minutes in which both versions have such requests. */
  get candidate(): BadCount {
    return this.#candidate;
  }

  get baseline(): BadCount {
    return this.#baseline;
  }

  /** True once a minute has had such requests of both versions. */
  get isPaired(): boolean {
    return this.#candidate.requests > 0;
  }

  /** True once each version has as many such requests as a verdict takes. */
  get hasEnough(): boolean {
    const least = Math.min(this.#candidate.requests, this.#baseline.requests);
    return least >= this.#options.minRequests;
  }

  /**
   * Adds a minute of the baseline, with one of the candidate if it has requests. The margin: what the baseline's
   * share before would grow to, as bad requests that it is credited with.
   */
  observe(candidate: BadCount | undefined, baseline: BadCount): void {
    if (candidate !== undefined && candidate.requests > 0 && baseline.requests > 0) {
      this.#candidate = sumOf(this.#candidate, candidate);
      this.#baseline = sumOf(this.#baseline, baseline);
      const { minEffectRatio, minEffectShare } = this.#options;
      const extra = Math.max(minEffectShare, shareOf(this.#baselineBefore) * (minEffectRatio - 1));
      const n = Math.min(candidate.requests, baseline.requests);
      const now = { slow: candidate.bad, requests: candidate.requests };
      const before = { slow: baseline.bad, requests: baseline.requests };
      this.evidence.isWorse.observe(now, before);
      this.evidence.isNoWorse.observe(before, now, binomialCounts(n, extra));
    }
    this.#baselineBefore = sumOf(this.#baselineBefore, baseline);
  }

  /** True if the measured difference is beyond the margin. */
  get isBeyondMargin(): boolean {
    const { minEffectRatio, minEffectShare } = this.#options;
    const [now, before] = [shareOf(this.#candidate), shareOf(this.#baseline)];
    return now >= before * minEffectRatio && now - before >= minEffectShare;
  }
}

/** Share of bad requests, 0 without any. */
export function shareOf({ requests, bad }: BadCount): number {
  return requests === 0 ? 0 : bad / requests;
}

function sumOf(sums: BadCount, { requests, bad }: BadCount): BadCount {
  return { requests: sums.requests + requests, bad: sums.bad + bad };
}
