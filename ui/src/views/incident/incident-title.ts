import type { AnomalyEvent } from '../../../../src/detect/event/anomaly-event.ts';
import { formatAge, formatTime, type Zone } from '../../format/time.ts';

/** "p95 of features of ranker is 153 ms, … ; open since 10:17:20, 12 min", or from when to when it was. */
export function incidentTitle(
  event: AnomalyEvent,
  zone: Zone & { readonly nowMs: number },
): string {
  const { summary, started_at, resolved_at } = event;
  const startMs = Date.parse(started_at);
  const since = formatTime(startMs, zone);
  if (resolved_at === null) return `${summary}, since ${since}`;
  const endMs = Date.parse(resolved_at);
  return `${summary}; ${since} to ${formatTime(endMs, zone)}, ${formatAge(endMs - startMs)}`;
}
