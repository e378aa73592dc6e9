/** Budget of one test. */
export interface TestLevels {
  /** False pages a week of one test. */
  readonly perWeek: number;
}

/**
 * Splits a budget of false pages a week evenly over all tests (Bonferroni).
 *
 * @param liveTests series × stages that are evaluated per window.
 */
export function pageBudget(pagesPerWeek: number, liveTests: number): TestLevels {
  return { perWeek: pagesPerWeek / Math.max(1, liveTests) };
}
