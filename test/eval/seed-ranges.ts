/**
 * First seeds. Those for tuning and for reporting are disjoint. Those from each million from 1 to 18 on
 * reported before, and led to a change: others report from now on.
 */
export const seedRanges = { tuning: 1, reporting: 19_000_001 } as const;

/**
 * Returns the first seed of a run in a range, `tuning` or `reporting`: the range's first one, or a later one.
 */
export function firstSeed(seeds: string, from = '1'): number {
  return (seeds === 'reporting' ? seedRanges.reporting : seedRanges.tuning) + Number(from) - 1;
}
