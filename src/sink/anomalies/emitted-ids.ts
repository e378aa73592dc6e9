import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { dedupKeyOfSeries } from '../../contract/anomaly-identity.ts';

/** A row of sql/queries/emitted_episodes.sql; `resolved_ms` is 0 while the anomaly is open. */
export type EmittedEpisode = Readonly<Record<'id' | 'dedup_key' | 'resolved_ms', string>>;

/**
 * Ids of a detector's open anomalies that were emitted, under the same id or another one. Late requests may
 * change an anomaly's start, and so its id. Then an emitted anomaly is the same if its kind and series match,
 * and it was not resolved before this one began.
 */
export function emittedIds(
  own: readonly Pick<AnomalyEvent, 'id' | 'dedup_key' | 'started_at'>[],
  emitted: readonly EmittedEpisode[],
): ReadonlySet<string> {
  const ids = new Set(emitted.map(({ id }) => id));
  const overMs = new Map<string, number>();
  for (const { dedup_key, resolved_ms } of emitted) {
    const key = dedupKeyOfSeries(dedup_key);
    const resolvedMs = Number(resolved_ms) || Number.POSITIVE_INFINITY;
    overMs.set(key, Math.max(resolvedMs, overMs.get(key) ?? resolvedMs));
  }
  const isEmitted = ({ id, dedup_key, started_at }: (typeof own)[number]) =>
    ids.has(id) || Date.parse(started_at) < (overMs.get(dedupKeyOfSeries(dedup_key)) ?? -Infinity);
  return new Set(own.filter(isEmitted).map(({ id }) => id));
}
