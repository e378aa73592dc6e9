import type { AnomalyAnswer } from '../../../../src/views/answers/anomalies.ts';
import { formatAge, formatTime, type Zone } from '../../format/time.ts';

/** "ranker p99 512 ms, 2.1x its baseline, blame features; since 10:17:20", or when it was declared over. */
export function incidentTitle(
  { headline, event }: AnomalyAnswer,
  zone: Zone & { readonly nowMs: number },
): string {
  const startMs = Date.parse(event.started_at);
  const since = formatTime(startMs, zone);
  if (event.resolved_at === null) return `${headline}; since ${since}`;
  const endMs = Date.parse(event.resolved_at);
  return `${headline}; since ${since}, resolved ${formatTime(endMs, zone)}, after ${formatAge(endMs - startMs)}`;
}
