/** Result of a test for a window and those before it, where they are unusual at all. */
export interface ShiftVerdict {
  readonly stage: string;
  /** Quantile that shows the shift, and its baseline. */
  readonly q: number;
  readonly baselineMs: number;
  /** Windows in a row that show it. */
  readonly windows: number;
  /** Natural logarithm of a bound on the p-value, and its significance threshold. */
  readonly logP: number;
  readonly logAlpha: number;
  /** Requests above the baseline's quantile in those windows, the expected number, and all requests. */
  readonly exceedances: number;
  readonly expected: number;
  readonly requests: number;
  readonly dispersion: number;
  readonly startedAtMs: number;
  /** Start of the first window of the evidence. */
  readonly sinceMs: number;
  /** Start and requests of the evaluated window. */
  readonly windowStartMs: number;
  readonly windowRequests: number;
  /** Significant, large and lasting enough to open an anomaly. */
  readonly opens: boolean;
  /** The same at a lower threshold, for a stage whose total is significant, too. */
  readonly opensWithTotal: boolean;
  /** The same for a second cause next to an open anomaly, which the total cannot show alone. */
  readonly opensBeside: boolean;
  /** Significant, of whatever size. */
  readonly isClear: boolean;
  /** Large enough, and improbable in theory; the series' own past may ask for more evidence. */
  readonly anomalous: boolean;
  /** Too unusual for the baseline to learn. */
  readonly suspicious: boolean;
  /** Improbable in this window alone: an open anomaly of the series continues. */
  readonly exceeding: boolean;
  /** As much evidence recurs at this time of day. */
  readonly recurs: boolean;
  /** More evidence than a minute ago: an open anomaly of the stage continues. */
  readonly rising: boolean;
}
