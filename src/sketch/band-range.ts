/** Bands there are: from 2^-20 ms, with everything below it, to 2^32 ms, with everything above. */
export const bandRange = { lowest: -80, highest: 127, count: 208 } as const;
