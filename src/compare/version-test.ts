import { totalStage } from '../base/dimensions.ts';
import { type CompareOptions, decidingQuantiles, equalPart } from './compare-options.ts';
import { type ComparedMinute, paired, type VersionMinute } from './compared-minute.ts';
import { logMean, PairEvidence } from './pair-evidence.ts';
import { slowCounts, TailMinutes } from './tail-minutes.ts';
import { binomialCounts } from './thinned-counts.ts';

/** A place where the candidate may be worse: at a quantile of the whole request, or in failures. */
export type Endpoint = (typeof decidingQuantiles)[number] | 'failures';

const endpoints: readonly Endpoint[] = [...decidingQuantiles, 'failures'];

/** The minute that made the candidate fail, and where it was worst then. */
export interface Failed {
  readonly startMs: number;
  readonly endpoint: Endpoint;
}

/** Sums over the minutes in which both versions have requests. */
export interface VersionSums {
  readonly requests: number;
  readonly failed: number;
}

interface EndpointEvidence {
  readonly isWorse: PairEvidence;
  readonly isNoWorse: PairEvidence;
}

/**
 * The sequential test behind a verdict. Minutes come in order; after each, it may be asked. It fails for good
 * with the first minute whose evidence suffices, so it does not matter when it is asked.
 *
 * - fail: the mean evidence of all endpoints, and that of one of them, reaches 1 / errorShare, and there the
 *   measured difference is beyond the margin. The evidence is for "slower by more than `equalPart` of the margin".
 * - pass: at every endpoint, the evidence for "within the margin" reaches 1 / errorShare, and still does.
 *
 * Cost: some 0.1 ms a minute. Memory: the digests of all minutes.
 */
export class VersionTest {
  readonly #options: CompareOptions;
  readonly #stage: string;
  readonly #evidence = new Map<Endpoint, EndpointEvidence>(
    endpoints.map((endpoint) => [
      endpoint,
      { isWorse: new PairEvidence(), isNoWorse: new PairEvidence() },
    ]),
  );
  readonly tail = new TailMinutes();
  #candidate: VersionSums = { requests: 0, failed: 0 };
  #baseline: VersionSums = { requests: 0, failed: 0 };
  #baselineBefore: VersionSums = { requests: 0, failed: 0 };
  #minutes = 0;
  #failed: Failed | undefined;

  /** @param stage that stands for whole requests */
  constructor(options: CompareOptions, stage: string = totalStage) {
    this.#options = options;
    this.#stage = stage;
  }

  observe(minute: ComparedMinute): void {
    const both = paired(minute);
    const { baseline } = minute;
    if (both !== undefined) this.#observePair(both.candidate, both.baseline);
    else if (baseline !== undefined) this.#observeTail(undefined, baseline);
    if (baseline !== undefined) this.#baselineBefore = sumOf(this.#baselineBefore, baseline);
    if (both === undefined || this.#failed !== undefined) return;
    const endpoint = this.#worst();
    if (endpoint !== undefined) this.#failed = { startMs: minute.startMs, endpoint };
  }

  get failed(): Failed | undefined {
    return this.#failed;
  }

  get passes(): boolean {
    return this.#failed === undefined && this.#hasEnough() && this.logNoWorse >= this.logNeeded;
  }

  /** Minutes in which both versions have requests. */
  get minutes(): number {
    return this.#minutes;
  }

  get candidate(): VersionSums {
    return this.#candidate;
  }

  get baseline(): VersionSums {
    return this.#baseline;
  }

  /** Natural logarithm of the evidence that a verdict needs. */
  get logNeeded(): number {
    return Math.log(1 / this.#options.errorShare);
  }

  /** Natural logarithm of the evidence that the candidate is worse somewhere. */
  get logWorse(): number {
    return logMean([...this.#evidence.values()].map(({ isWorse }) => isWorse.log));
  }

  /** Natural logarithm of the evidence that it is within the margin, where that is weakest. */
  get logNoWorse(): number {
    return Math.min(...[...this.#evidence.values()].map(({ isNoWorse }) => isNoWorse.log));
  }

  /** True if the measured difference is beyond the margin. */
  isBeyondMargin(endpoint: Endpoint): boolean {
    const { minEffectRatio, minEffectMs, minEffectShare } = this.#options;
    const isQuantile = endpoint !== 'failures';
    const [now, before] = isQuantile
      ? [this.tail.candidate.quantile(endpoint), this.tail.baseline.quantile(endpoint)]
      : [shareOf(this.#candidate), shareOf(this.#baseline)];
    return (
      now >= before * minEffectRatio && now - before >= (isQuantile ? minEffectMs : minEffectShare)
    );
  }

  #hasEnough(): boolean {
    const { minRequests } = this.#options;
    return this.#candidate.requests >= minRequests && this.#baseline.requests >= minRequests;
  }

  /** The endpoint at which the candidate fails, the one with most evidence of several. */
  #worst(): Endpoint | undefined {
    if (!this.#hasEnough() || this.logWorse < this.logNeeded) return undefined;
    const worse = endpoints
      .map((endpoint) => ({ endpoint, log: this.#evidence.get(endpoint)?.isWorse.log ?? 0 }))
      .filter(({ endpoint, log }) => log >= this.logNeeded && this.isBeyondMargin(endpoint))
      .toSorted((a, b) => b.log - a.log);
    return worse[0]?.endpoint;
  }

  #observePair(candidate: VersionMinute, baseline: VersionMinute): void {
    this.#minutes += 1;
    this.#candidate = sumOf(this.#candidate, candidate);
    this.#baseline = sumOf(this.#baseline, baseline);
    this.#observeFailures(candidate, baseline);
    if (!this.#observeTail(candidate, baseline)) return;
    const { minEffectRatio, minEffectMs } = this.#options;
    const equalRatio = 1 + equalPart * (minEffectRatio - 1);
    const minute = this.tail.minutes.at(-1);
    if (minute === undefined) return;
    for (const q of decidingQuantiles) {
      const evidence = this.#evidence.get(q);
      const equal = slowCounts(minute, q, { ratio: equalRatio }, 'fast');
      evidence?.isWorse.observe(equal.candidate, equal.baseline);
      const margin = { ratio: minEffectRatio, addedMs: minEffectMs };
      const within = slowCounts(minute, q, margin, 'slow');
      evidence?.isNoWorse.observe(within.baseline, within.candidate);
    }
  }

  /** False if one of the versions has no duration of whole requests. */
  #observeTail(candidate: VersionMinute | undefined, baseline: VersionMinute): boolean {
    const before = baseline.stages.get(this.#stage);
    const now = candidate?.stages.get(this.#stage);
    if (before !== undefined) this.tail.observe(now, before);
    return before !== undefined && now !== undefined;
  }

  /** The margin of failures: what the baseline's share before would grow to, as failures that it is credited with. */
  #observeFailures(candidate: VersionMinute, baseline: VersionMinute): void {
    const { minEffectRatio, minEffectShare } = this.#options;
    const evidence = this.#evidence.get('failures');
    const now = { slow: candidate.failed, requests: candidate.requests };
    const before = { slow: baseline.failed, requests: baseline.requests };
    const share = shareOf(this.#baselineBefore);
    const extra = Math.max(minEffectShare, share * (minEffectRatio - 1));
    const n = Math.min(now.requests, before.requests);
    evidence?.isWorse.observe(now, before);
    evidence?.isNoWorse.observe(before, now, binomialCounts(n, extra));
  }
}

/** Share of failed requests, 0 without any. */
export function shareOf({ requests, failed }: VersionSums): number {
  return requests === 0 ? 0 : failed / requests;
}

function sumOf(sums: VersionSums, { requests, failed }: VersionMinute): VersionSums {
  return { requests: sums.requests + requests, failed: sums.failed + failed };
}
