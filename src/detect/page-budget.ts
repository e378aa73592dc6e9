import { horizons } from './horizons.ts';

const weekMs = 7 * 86_400_000;

/** What one test of one window may spend, as natural logarithms of probabilities. */
export interface TestLevels {
  /** Of one test of one window and horizon. */
  readonly alpha: number;
  readonly logAlpha: number;
  /** One window alone must be this much clearer: ten slow seconds are not worth a night. */
  readonly logAlphaSingle: number;
}

/** A single window opens an anomaly only at a thousandth of what a run of windows needs. */
const singleWindowFactor = 1e-3;

/**
 * Splits a budget of false pages a week evenly over every test of a week (Bonferroni):
 * windows a week × tests of a window × horizons.
 *
 * @param liveTests series × stages × quantiles that are judged per window.
 */
export function pageBudget(pagesPerWeek: number, windowMs: number, liveTests: number): TestLevels {
  const tests = (weekMs / windowMs) * Math.max(1, liveTests) * horizons.length;
  const alpha = Math.min(pagesPerWeek / tests, 1e-3);
  return {
    alpha,
    logAlpha: Math.log(alpha),
    logAlphaSingle: Math.log(alpha * singleWindowFactor),
  };
}
