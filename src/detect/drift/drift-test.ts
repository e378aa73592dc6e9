import type { HourPair } from '../../baseline/hourly-tails.ts';
import { median } from '../../baseline/median.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import { normal95 } from '../stats/quantile-interval.ts';
import { logStudentTail } from '../stats/student-tail.ts';

/** Comparison of a day with the same hours of the week before, for one quantile. */
export interface DriftVerdict {
  /** Index of the quantile. */
  readonly quantile: number;
  /** Compared hours, and the slower ones among them. */
  readonly hours: number;
  readonly slower: number;
  /** Median hour of the week before; growth of the median hour, and its 95 % interval. */
  readonly baselineMs: number;
  readonly ratio: number;
  readonly interval: readonly [number, number];
  /** Effective number of independent hours. */
  readonly independent: number;
  /** ln of the p-value, and of its threshold. */
  readonly logP: number;
  readonly logAlpha: number;
  /** Start of the first hour with half of the smallest growth that matters. */
  readonly startedAtMs: number;
  /** True if significance, effect and duration suffice to open an anomaly. */
  readonly opens: boolean;
  /** True while the last hours have half of the smallest growth that matters. */
  readonly persists: boolean;
}

/** Tuned with `npm run eval`; test/detect/drift/drift-test.test.ts holds them. */
const tuned = {
  /** Requests that an hour must have beyond a quantile, to be compared. */
  minBeyond: 10,
  /** Fewest compared hours of a day. */
  minHours: 8,
  /** Last hours, which must confirm an opening, and decide whether it persists. */
  lastHours: 6,
  /** Independent tests per week: hourly tests of one day largely overlap. */
  testsPerWeek: 7,
  /** Upper limit of the autocorrelation of hours. */
  maxCorrelation: 0.9,
  /** Lower limit of the degrees of freedom of t. */
  minFreedom: 1.5,
} as const;
/** Days in between, by their age. Newer ones are left out: a slow drift is nearly as large in them. */
export const daysBetween = [4, 5, 6] as const;

/**
 * Tests whether a day was slower than the same day of the week before, hour by hour. The median of the
 * log ratios must reach `min_drift_ratio`. Their mean must differ from 0 by Student's t, with the number
 * of hours corrected for autocorrelation. Nights meet nights and Sundays meet Sundays; one bad hour moves
 * a median of 24 little.
 *
 * Days may differ by themselves. So half of the growth must also show against `daysBetween`.
 *
 * @param pairs oldest first.
 * @param between pairs with each of the days in between.
 * @param perWeek false verdicts allowed per week.
 * @returns a verdict for each quantile with enough compared hours.
 */
export function evaluateDrift(
  pairs: readonly HourPair[],
  between: readonly (readonly HourPair[])[],
  options: DetectOptions,
  perWeek: number,
): DriftVerdict[] {
  return options.quantiles.flatMap((_, quantile) => {
    const verdict = evaluateQuantile(pairs, quantile, options, perWeek);
    if (verdict === undefined) return [];
    const half = Math.log(options.min_drift_ratio) / 2;
    const isConfirmed = between.every((day) => {
      const growths = comparedHours(day, quantile, options).map(({ growth }) => growth);
      return growths.length < tuned.minHours || median(growths) >= half;
    });
    return { ...verdict, opens: verdict.opens && isConfirmed };
  });
}

/** The verdict with the smallest p-value, of those that open if there are any. */
export function clearestOf(verdicts: readonly DriftVerdict[]): DriftVerdict | undefined {
  return verdicts.toSorted((a, b) => Number(b.opens) - Number(a.opens) || a.logP - b.logP)[0];
}

/** Verdict of one quantile, by its index. */
function evaluateQuantile(
  pairs: readonly HourPair[],
  quantile: number,
  options: DetectOptions,
  perWeek: number,
): DriftVerdict | undefined {
  const { quantiles, min_drift_ratio, min_effect_ms } = options;
  const compared = comparedHours(pairs, quantile, options);
  if (compared.length < tuned.minHours) return undefined;
  const baselineMs = median(compared.map((hour) => hour.baselineMs));
  const growths = compared.map((hour) => hour.growth);
  const least = Math.log(min_drift_ratio);
  const growth = median(growths);
  const { mean, error, independent, freedom } = meanOf(growths);
  const logP = logStudentTail(mean / error, freedom);
  const logAlpha = Math.log(Math.min(1, perWeek / (tuned.testsPerWeek * quantiles.length)));
  const persists = median(growths.slice(-tuned.lastHours)) >= least / 2;
  const isLarge = growth >= least && baselineMs * Math.expm1(growth) >= min_effect_ms;
  const first = compared.find((hour) => hour.growth >= least / 2) ?? compared[0];
  return {
    quantile,
    hours: compared.length,
    slower: growths.filter((each) => each > 0).length,
    baselineMs,
    ratio: Math.exp(growth),
    interval: [Math.exp(growth - normal95 * error), Math.exp(growth + normal95 * error)],
    independent,
    logP,
    logAlpha,
    startedAtMs: (first as ComparedHour).startMs,
    opens: isLarge && persists && logP <= logAlpha,
    persists,
  };
}

/** One quantile of an hour in the baseline, and its log growth. */
interface ComparedHour {
  readonly startMs: number;
  readonly baselineMs: number;
  readonly growth: number;
}

/** Hours with enough requests of the same stage. */
function comparedHours(
  pairs: readonly HourPair[],
  quantile: number,
  { quantiles }: DetectOptions,
): ComparedHour[] {
  const beyond = 1 - (quantiles[quantile] as number);
  return pairs.flatMap(({ now, baseline }) => {
    const requestsBeyond = Math.min(now.requests, baseline.requests) * beyond;
    if (now.stage !== baseline.stage || requestsBeyond < tuned.minBeyond) return [];
    const baselineMs = baseline.quantilesMs[quantile] as number;
    const growth = Math.log((now.quantilesMs[quantile] as number) / baselineMs);
    return [{ startMs: now.startMs, baselineMs, growth }];
  });
}

/**
 * The mean, its standard error, the effective number of values, and the degrees of freedom. A slowdown by
 * the hour is a trend, not spread, so residuals are those of a regression line. Their autocorrelation ρ
 * (first order) is corrected for the bias of short series (Kendall, "Note on bias in the estimation of
 * autocorrelation", 1954). The degrees of freedom depend on ρ² (Bayley and Hammersley, "The effective
 * number of independent observations in an autocorrelated time series", 1946).
 */
function meanOf(values: readonly number[]) {
  const n = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  const middle = (n - 1) / 2;
  const steps = (n * (n * n - 1)) / 12;
  const slope = values.reduce((sum, value, i) => sum + value * (i - middle), 0) / steps;
  const residuals = values.map((value, i) => value - mean - slope * (i - middle));
  let [square, product] = [0, 0];
  for (const [i, residual] of residuals.entries()) {
    square += residual * residual;
    product += residual * (residuals[i - 1] ?? 0);
  }
  const observed = square === 0 ? 0 : product / square;
  const correlation = Math.min(
    tuned.maxCorrelation,
    Math.max(0, observed + (1 + 3 * observed) / n),
  );
  const independent = (n * (1 - correlation)) / (1 + correlation);
  const error = Math.sqrt(square / (n - 2) / independent);
  const freedom = Math.max(
    tuned.minFreedom,
    (n * (1 - correlation ** 2)) / (1 + correlation ** 2) - 2,
  );
  return { mean, error: Math.max(error, Number.EPSILON), independent, freedom };
}
