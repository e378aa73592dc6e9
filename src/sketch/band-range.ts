/** Range of bands: 2^-20 ms and below to 2^32 ms and above. */
export const bandRange = { lowest: -80, highest: 127, count: 208 } as const;
