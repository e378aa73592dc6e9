/** "as of 09:14:20 UTC": the end of the windows that numbers of an open anomaly are of. */
export function asOfText(measuredAt: string): string {
  return `as of ${measuredAt.slice(11, 19)} UTC`;
}

/** Ends the sentence of an open anomaly by the time that its numbers are of; older events do not say it. */
export function withAsOf(summary: string, measuredAt: string | undefined): string {
  return measuredAt === undefined ? summary : `${summary}; ${asOfText(measuredAt)}`;
}

/** The sentence with its day, so that a page can show the time in its own zone: "as of 2026-11-29 09:14:20 UTC". */
export function withDayOf(summary: string, measuredAt: string | undefined): string {
  if (measuredAt === undefined) return summary;
  const full = `as of ${measuredAt.slice(0, 10)} ${measuredAt.slice(11, 19)} UTC`;
  return summary.replace(asOfText(measuredAt), full);
}
