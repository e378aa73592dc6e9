import type { TDigest } from '../sketch/t-digest.ts';

/** Amounts per band of the request's total, in ascending order of the band number. */
export interface Bands {
  readonly bands: readonly number[];
  readonly amounts: readonly number[];
}

/** Measurements of one stage of one series in one window. */
export interface StageSummary {
  readonly stage: string;
  readonly requests: number;
  readonly errors: number;
  readonly timeouts: number;
  readonly cancelled: number;
  readonly sumMs: number;
  readonly minMs: number;
  readonly maxMs: number;
  readonly digest: TDigest;
  /** Digest of the requests that were given up; absent without any, and where windows are read for detection. */
  readonly censored?: TDigest;
  /** Digest of the requests that ended, beside `censored`. */
  readonly ended?: TDigest;
  /** `total`: requests per band. Other stages: their ms, summed over the requests of that band. */
  readonly bands: Bands;
  /** `total` only: total ms per band. */
  readonly bandsMs: Bands;
}

/** The values of every known dimension; '' or false where a dimension is not configured. */
export interface Series {
  readonly service: string;
  readonly model: string;
  readonly version: string;
  readonly request_type: string;
  readonly region: string;
  readonly host: string;
  readonly tenant: string;
  readonly cold_start: boolean;
  /** Own dimensions as one text (`attributesText`); absent where it has none. */
  readonly attributes?: string | undefined;
}

/** The values of dimensions that are not configured. */
export const emptySeries: Series = {
  service: '',
  model: '',
  version: '',
  request_type: '',
  region: '',
  host: '',
  tenant: '',
  cold_start: false,
};

/** Requests that a joint objective was counted of, and those that missed it: exact. */
export interface ObjectiveCounts {
  readonly requests: number;
  readonly bad: number;
}

/** One series in one complete window, by stage. */
export interface SeriesWindow {
  readonly windowStartMs: number;
  readonly windowMs: number;
  readonly series: Series;
  readonly stages: ReadonlyMap<string, StageSummary>;
  /** Counts of joint objectives by the name of their row; absent without any. */
  readonly objectives?: ReadonlyMap<string, ObjectiveCounts>;
}
