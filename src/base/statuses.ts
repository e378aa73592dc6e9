/** Outcomes of a request; the hot path uses the index as a code. */
export const statuses = ['ok', 'error', 'timeout', 'cancelled'] as const;

export type Status = (typeof statuses)[number];
