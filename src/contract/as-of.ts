import type { AnomalyEvent } from './anomaly-event.ts';
import { ofWorstSeries } from './worst-series.ts';

/** "as of 09:14:20 UTC": the end of the windows that numbers of an open anomaly are of. */
export function asOfText(measuredAt: string): string {
  return `as of ${measuredAt.slice(11, 19)} UTC`;
}

/** Ends the sentence of an open anomaly by the time that its numbers are of; older events do not say it. */
export function withAsOf(summary: string, measuredAt: string | undefined): string {
  return measuredAt === undefined ? summary : `${summary}; ${asOfText(measuredAt)}`;
}

/**
 * A text of an anomaly with the days of its times, so that a page can show them in its own zone: "as of
 * 2026-11-29 09:14:20 UTC".
 */
export function withDayOf(text: string, event: AnomalyEvent): string {
  const measured = [ofWorstSeries(event), event, ...(event.members ?? [])];
  return measured.reduce((dated, { measured_at: at }) => {
    if (at === undefined) return dated;
    return dated.replaceAll(asOfText(at), `as of ${at.slice(0, 10)} ${at.slice(11, 19)} UTC`);
  }, text);
}
