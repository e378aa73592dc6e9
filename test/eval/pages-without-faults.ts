import { runSeries } from './run-series.ts';

/** Seed of the short form of `npm run eval` without faults. */
const ownSeed = 500_000;

/** Summaries of the pages of a series without a fault. */
export function pagesOf(family: string, days: number, seed = ownSeed): string[] {
  return runSeries({ family, seed, days }).falsePages.map(({ summary }) => summary);
}
