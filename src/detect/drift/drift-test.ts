import type { HourPair } from '../../baseline/hourly-tails.ts';
import { median } from '../../baseline/median.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import { logStudentTail } from '../stats/student-tail.ts';

/** What a day says against the same hours of the week before, of one quantile. */
export interface DriftVerdict {
  /** By its index. */
  readonly quantile: number;
  /** Hours that are known, and those of them that are slower than a week before. */
  readonly hours: number;
  readonly slower: number;
  /**
   * Median of the hours of the week before; by how much they have grown, the median hour; its 95 %
   * interval.
   */
  readonly baselineMs: number;
  readonly ratio: number;
  readonly interval: readonly [number, number];
  /** Independent hours that these are worth. */
  readonly independent: number;
  /** ln of the chance of so much growth in a usual week, at most; and what it had to be. */
  readonly logP: number;
  readonly logLevel: number;
  /** Start of the first hour that has half of the least growth. */
  readonly startedAtMs: number;
  /** Clear, large and lasting enough to be told. */
  readonly opens: boolean;
  /** The last hours have half of the least growth: what was told goes on. */
  readonly goesOn: boolean;
}

/** A quantile of an hour is known if so many requests are beyond it. */
const fewestBeyond = 10;
/** With fewer hours nothing is said of a day. */
const fewestHours = 8;
/** What is told must still be so in the last hours, and is over when it no longer is. */
const lastHours = 6;
/** Days in between that are looked at, by how many ago they are: what creeps was nearly as slow yesterday. */
export const daysBetween = [4, 5, 6] as const;
/** Days are new, hours are not: so many looks a week are taken to be independent. */
const looksPerWeek = 7;
const normal95 = 1.959964;
/** Hours that follow each other are taken to be no more alike than this. */
const mostAlike = 0.9;
/** With fewer degrees of freedom a t says nothing. */
const leastFreedom = 1.5;

/**
 * Judges whether a day was slower than the same day of the week before, hour by hour: the logarithms of
 * the ratios are some numbers that follow each other, of which the median must be `min_drift_ratio` and
 * the mean be further from 0 than their own spread explains (Student's t; hours that are alike count for
 * fewer). A night is compared with a night, a Sunday with a Sunday; an hour of trouble moves a median of
 * 24 little.
 *
 * One day that is slower is no drift where days differ by themselves: it must be slower than those in between
 * (`daysBetween`), too, by half of that.
 *
 * @param pairs oldest first.
 * @param between the same of each of the days in between.
 * @param perWeek false verdicts that may be told.
 * @returns what each quantile says of which enough hours are known.
 */
export function judgeDrift(
  pairs: readonly HourPair[],
  between: readonly (readonly HourPair[])[],
  options: DetectOptions,
  perWeek: number,
): DriftVerdict[] {
  return options.quantiles.flatMap((_, quantile) => {
    const verdict = judgeQuantile(pairs, quantile, options, perWeek);
    if (verdict === undefined) return [];
    const half = Math.log(options.min_drift_ratio) / 2;
    const growths = between.flatMap((day) => growthOf(knownOf(day, quantile, options), quantile));
    return { ...verdict, opens: verdict.opens && growths.every((growth) => growth >= half) };
  });
}

/** What the clearest of the quantiles says, of those that open if there are any. */
export function clearestOf(verdicts: readonly DriftVerdict[]): DriftVerdict | undefined {
  const opening = verdicts.filter(({ opens }) => opens);
  const among = opening.length > 0 ? opening : verdicts;
  return among.reduce<DriftVerdict | undefined>(
    (clearest, each) => (clearest === undefined || each.logP < clearest.logP ? each : clearest),
    undefined,
  );
}

/** The same of one quantile, by its index. */
function judgeQuantile(
  pairs: readonly HourPair[],
  quantile: number,
  options: DetectOptions,
  perWeek: number,
): DriftVerdict | undefined {
  const { quantiles, min_drift_ratio, min_effect_ms } = options;
  const known = knownOf(pairs, quantile, options);
  if (known.length < fewestHours) return undefined;
  const baselineMs = median(known.map(({ baseline }) => baseline.quantilesMs[quantile] as number));
  const growths = growthsOf(known, quantile);
  const least = Math.log(min_drift_ratio);
  const growth = median(growths);
  const { mean, error, independent, freedom } = meanOf(growths);
  const logP = logStudentTail(mean / error, freedom);
  const logLevel = Math.log(Math.min(1, perWeek / (looksPerWeek * quantiles.length)));
  const goesOn = median(growths.slice(-lastHours)) >= least / 2;
  const isLarge = growth >= least && baselineMs * Math.expm1(growth) >= min_effect_ms;
  const first = known[growths.findIndex((each) => each >= least / 2)] ?? (known[0] as HourPair);
  return {
    quantile,
    hours: known.length,
    slower: growths.filter((each) => each > 0).length,
    baselineMs,
    ratio: Math.exp(growth),
    interval: [Math.exp(growth - normal95 * error), Math.exp(growth + normal95 * error)],
    independent,
    logP,
    logLevel,
    startedAtMs: first.now.startMs,
    opens: isLarge && goesOn && logP <= logLevel,
    goesOn,
  };
}

/** Of pairs of hours those that have enough requests, of the same stage. */
function knownOf(
  pairs: readonly HourPair[],
  quantile: number,
  { quantiles }: DetectOptions,
): HourPair[] {
  const beyond = 1 - (quantiles[quantile] as number);
  return pairs.filter(
    ({ now, baseline }) =>
      now.stage === baseline.stage &&
      Math.min(now.requests, baseline.requests) * beyond >= fewestBeyond,
  );
}

/** By how much each hour has grown, as a logarithm. */
function growthsOf(known: readonly HourPair[], quantile: number): number[] {
  return known.map(({ now, baseline }) =>
    Math.log((now.quantilesMs[quantile] as number) / (baseline.quantilesMs[quantile] as number)),
  );
}

/** The median of that; nothing where too few are known. */
function growthOf(known: readonly HourPair[], quantile: number): number[] {
  return known.length < fewestHours ? [] : [median(growthsOf(known, quantile))];
}

/**
 * The mean, its standard error, how many independent values these would be worth, and the degrees of freedom
 * of that error. What is slower by the hour has a trend, which is no spread: values are held against the line
 * through them. Those next to each other are alike by their correlation ρ (of a first-order process), corrected
 * for what so few show too little of it (Kendall, "Note on bias in the estimation of autocorrelation", 1954).
 * They tell less of their spread, too: by ρ² (Bayley and Hammersley, "The effective number of independent
 * observations in an autocorrelated time series", 1946).
 */
function meanOf(values: readonly number[]) {
  const n = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  const middle = (n - 1) / 2;
  const steps = (n * (n * n - 1)) / 12;
  const slope = values.reduce((sum, value, i) => sum + value * (i - middle), 0) / steps;
  const offs = values.map((value, i) => value - mean - slope * (i - middle));
  let [square, product] = [0, 0];
  for (const [i, off] of offs.entries()) {
    square += off * off;
    product += off * (offs[i - 1] ?? 0);
  }
  const seen = square === 0 ? 0 : product / square;
  const alike = Math.min(mostAlike, Math.max(0, seen + (1 + 3 * seen) / n));
  const independent = (n * (1 - alike)) / (1 + alike);
  const error = Math.sqrt(square / (n - 2) / independent);
  const freedom = Math.max(leastFreedom, (n * (1 - alike ** 2)) / (1 + alike ** 2) - 2);
  return { mean, error: Math.max(error, Number.EPSILON), independent, freedom };
}
