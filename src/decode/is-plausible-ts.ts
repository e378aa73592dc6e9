const minTsMs = Date.UTC(2000, 0, 1);
const maxTsMs = Date.UTC(2100, 0, 1);

/** Whether it may be when a request began: seconds, microseconds and unset clocks fall outside, and NaN. */
export function isPlausibleTs(ms: number): boolean {
  return ms >= minTsMs && ms < maxTsMs;
}
