/**
 * How many consecutive windows a test adds up, shortest first. One finds an outage at once; thirty
 * find a small shift, or one at little traffic, that no single window shows.
 */
export const horizons = [1, 2, 6, 30] as const;

export const longestHorizon = 30;
