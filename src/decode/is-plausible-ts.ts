const minTsMs = Date.UTC(2000, 0, 1);
const maxTsMs = Date.UTC(2100, 0, 1);

/** Returns true for a plausible start of a request: not for seconds, microseconds, unset clocks or NaN. */
export function isPlausibleTs(ms: number): boolean {
  return ms >= minTsMs && ms < maxTsMs;
}
