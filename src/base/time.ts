/** Lengths of time in milliseconds. A setting or a rule is written as a product: `5 * minuteMs`. */
export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
export const weekMs = 7 * dayMs;

/** The same in seconds, as ClickHouse counts them. */
export const minuteSeconds = 60;
export const hourSeconds = 60 * minuteSeconds;
export const daySeconds = 24 * hourSeconds;

/** Time as ISO 8601 in UTC, to the millisecond; null where there is none. */
export function isoOf(ms: number): string;
export function isoOf(ms: number | undefined): string | null;
export function isoOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}

/** The same to the second: `2026-11-21T10:17:30Z`. */
export function isoSecondsOf(ms: number): string {
  return isoOf(ms).replace(/\.\d+Z$/, 'Z');
}
