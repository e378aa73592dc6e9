import type { Endpoint } from './version-test.ts';

/** One quantile of both versions; null where there is no duration, or no bound. */
export interface QuantileComparison {
  readonly q: number;
  readonly candidate_ms: number | null;
  readonly baseline_ms: number | null;
  /** Of the candidate's to the baseline's. */
  readonly ratio: number | null;
  /** Interval of the ratio that holds however often it is asked. */
  readonly ratio_low: number | null;
  readonly ratio_high: number | null;
}

/** One stage of both versions. */
export interface StageComparison {
  readonly stage: string;
  readonly quantiles: readonly QuantileComparison[];
  /** Part of the excess of the slowest 1 % of whole requests; null where there is none. */
  readonly excess_ms: number | null;
  readonly share_of_excess: number | null;
}

export type Verdict = 'pass' | 'fail' | 'inconclusive';

/** Two versions of a model over the same minutes. */
export interface Comparison {
  readonly verdict: Verdict;
  readonly reason: string;
  /** Estimate of the requests of the candidate until there is a verdict; 0 with one, and where no more can come. */
  readonly missing_requests: number;
  /** Minutes, or blocks of them, in which both versions have requests: only these are compared. */
  readonly minutes: number;
  readonly requests: { readonly candidate: number; readonly baseline: number };
  readonly failures: {
    readonly candidate: number;
    readonly baseline: number;
    readonly candidate_share: number;
    readonly baseline_share: number;
  };
  /** The minute that made it fail, and where it is worst over all minutes; null otherwise. */
  readonly failed_at: string | null;
  readonly failed_by: Endpoint['at'] | null;
  /** The stage that made it fail, `total` for whole requests; null otherwise, and where failures or goodput did. */
  readonly failed_stage: string | null;
  /** The joint objective whose goodput made it fail; null otherwise. */
  readonly failed_objective: string | null;
  /** Stages whose durations decide, beside failures: whole requests first. */
  readonly tested_stages: readonly string[];
  /** Joint objectives whose goodput decides. */
  readonly tested_objectives: readonly string[];
  readonly quantiles: readonly QuantileComparison[];
  /** The largest excess first. */
  readonly stages: readonly StageComparison[];
}

/** An incident that is compared with the time before it. */
export interface NamedIncident {
  readonly id: string;
  readonly is_open: boolean;
  /** What A is, in words. */
  readonly a_is: string;
}

/** A comparison, and what was compared. */
export interface NamedComparison extends Comparison {
  readonly model: string;
  /** The incident whose test gives the verdict. @default that of releases gives it */
  readonly incident?: NamedIncident;
  readonly version: string;
  readonly baseline: string;
  /** Sentences on request types, regions or sizes in which the candidate (B) and the baseline (A) differ. */
  readonly mix: readonly string[];
  /** Quantiles with the candidate weighted to the mix of the baseline; null where the mixes agree. */
  readonly like_with_like:
    | readonly Pick<QuantileComparison, 'q' | 'candidate_ms' | 'baseline_ms' | 'ratio'>[]
    | null;
}
