/**
 * First seeds. Those for tuning and for reporting are disjoint. Those from 1,000,001, 2,000,001, 3,000,001,
 * 4,000,001 and 5,000,001 on reported before, and each led to a change: others report from now on.
 */
export const seedRanges = { tuning: 1, reporting: 6_000_001 } as const;
