import type { TailPeaks } from './tail-peaks.ts';

/** Before any window is known a series is taken to be this over-dispersed. */
const priorDispersion = 4;
/** The prior weighs as much as this many observations. */
const priorWeight = 4;
/** A squared residual counts up to so many times the usual one: lone outliers say little of it. */
const mostOfUsual = 9;
/** Windows that the dispersion remembers: two days, at the usual 10 s. */
const dispersionWindows = 17_280;
/** Windows that the forecast remembers: as many times the horizon, and these at least. */
const forecastRuns = 20;
const leastForecastWindows = 30;
/** Exceedances that the forecast is taken to have seen at the baseline's rate. */
const forecastPrior = 10;
/** No forecast lies further from the baseline's rate. */
const forecastRange = { least: 0.3, most: 10 } as const;

/**
 * What the past of one test (a series, stage and quantile) foretells of sums over one horizon:
 *
 * - **The rate.** How many times what the baseline expects comes of late: an exponentially weighted
 *   ratio, quicker for short horizons. So a rate that swings slowly is followed, not paged.
 * - **Its restlessness.** The dispersion: how much more sums vary around that forecast than those of
 *   independent requests would, as a mean of squared Pearson residuals, shrunk towards a cautious
 *   prior and raised by a standard error, since an estimate that is too low pages.
 * - **Its own extremes** (`TailPeaks`): how far it goes without anything being wrong.
 *
 * Memory: some 200 bytes. Cost of all but a level: nanoseconds.
 */
export class ExceedancePast {
  readonly #windows: number;
  readonly #keep: number;
  readonly peaks: TailPeaks;
  #exceedances = 0;
  #expected = 0;
  #learned = 0;
  #squares = 0;
  #requests = 0;

  /** @param windows of the horizon. */
  constructor(windows: number, peaks: TailPeaks) {
    this.#windows = windows;
    this.#keep = Math.exp(-1 / Math.max(leastForecastWindows, forecastRuns * windows));
    this.peaks = peaks;
  }

  /** How many times what the baseline expects is to be expected now. */
  get rate(): number {
    const rate = (this.#exceedances + forecastPrior) / (this.#expected + forecastPrior);
    return Math.min(Math.max(rate, forecastRange.least), forecastRange.most);
  }

  /** Takes a window into the forecast: for long horizons later than into the rest, see TailTest. */
  forecast(exceedances: number, expected: number): void {
    this.#exceedances = this.#keep * this.#exceedances + exceedances;
    this.#expected = this.#keep * this.#expected + expected;
  }

  /**
   * Learns how a window had compared with what was foretold for the horizon that it ends.
   *
   * @param requests of the horizon.
   * @param square of its Pearson residual, as of independent requests.
   * @param score as the peaks have it.
   */
  learn(requests: number, square: number, score: number): void {
    const weight = 1 / (Math.min(this.#learned, dispersionWindows) + 1);
    const bounded = Math.min(square, mostOfUsual * this.#usual());
    this.#squares += weight * (bounded - this.#squares);
    this.#requests += weight * (requests - this.#requests);
    this.#learned += 1;
    this.peaks.learn(score);
  }

  /** Dispersion, at least 1, of a sum over this many requests: with more than usual it grows. */
  dispersion(requests: number): number {
    const weight = priorWeight + this.#independent();
    const cautious = this.#usual() * (1 + Math.sqrt(2 / weight));
    if (cautious <= 1) return 1;
    const growth = this.#requests > 0 ? Math.max(1, requests / this.#requests) : 1;
    return 1 + (cautious - 1) * growth;
  }

  /** Forgets the rate: the baseline that it compares with is another one. */
  forgetRate(): void {
    this.#exceedances = 0;
    this.#expected = 0;
  }

  #usual(): number {
    const weight = this.#independent();
    return (priorDispersion * priorWeight + this.#squares * weight) / (priorWeight + weight);
  }

  /** Observations that do not overlap. */
  #independent(): number {
    return Math.min(this.#learned, dispersionWindows) / this.#windows;
  }
}
