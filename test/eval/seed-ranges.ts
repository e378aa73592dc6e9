/**
 * First seeds. Those for tuning and for reporting are disjoint. Those from 1,000,001 and from 2,000,001 on
 * reported first, and each led to a change: others report since.
 */
export const seedRanges = { tuning: 1, reporting: 3_000_001 } as const;
