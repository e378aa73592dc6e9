import { horizons } from './horizons.ts';

/** What one test may spend. */
export interface TestLevels {
  /** False pages a week of one test and horizon. */
  readonly perWeek: number;
}

/**
 * Splits a budget of false pages a week evenly over every test and horizon (Bonferroni).
 *
 * @param liveTests series × stages × quantiles that are judged per window.
 */
export function pageBudget(pagesPerWeek: number, liveTests: number): TestLevels {
  return { perWeek: pagesPerWeek / (Math.max(1, liveTests) * horizons.length) };
}
