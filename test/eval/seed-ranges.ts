/**
 * First seeds. Those for tuning and for reporting are disjoint. Those from 1,000,001, from 2,000,001 and
 * from 3,000,001 on reported first, and each led to a change: others report from now on.
 */
export const seedRanges = { tuning: 1, reporting: 4_000_001 } as const;
