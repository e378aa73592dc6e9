/** What a test says of one window and those before it, where it is odd at all. */
export interface ShiftVerdict {
  readonly stage: string;
  /** The quantile that shows it, the baseline's value of it. */
  readonly q: number;
  readonly thresholdMs: number;
  /** Windows in a row that show it. */
  readonly windows: number;
  /** ln of the chance of so much evidence in a row of usual windows, at most; and what it must be. */
  readonly logP: number;
  readonly logLevel: number;
  /** Requests above the baseline's quantile in those windows, as many as usually are, and all. */
  readonly exceedances: number;
  readonly expected: number;
  readonly requests: number;
  readonly dispersion: number;
  readonly startedAtMs: number;
  /** Start of the first window of the evidence. */
  readonly sinceMs: number;
  /** Of the window that was judged. */
  readonly windowStartMs: number;
  readonly windowRequests: number;
  /** Clear enough, large enough and lasting enough to open an anomaly. */
  readonly opens: boolean;
  /** The same where the total is clear, too: they bear each other out. */
  readonly opensBeside: boolean;
  /** Clear enough, however small. */
  readonly isClear: boolean;
  /** As large, and odd by theory, though perhaps not by the past, which asks for more of what lasts. */
  readonly isOut: boolean;
  /** Odd enough not to be learnt. */
  readonly suspicious: boolean;
  /** Odd in this window alone: an open anomaly of the series goes on. */
  readonly loud: boolean;
  /** As much came at this time of the days before. */
  readonly recurs: boolean;
  /** There is more evidence than a minute ago: an open anomaly of the stage goes on. */
  readonly rising: boolean;
}
