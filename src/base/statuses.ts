/** How a request ended; the index is the code that travels through the hot path. */
export const statuses = ['ok', 'error', 'timeout', 'cancelled'] as const;

export type Status = (typeof statuses)[number];
