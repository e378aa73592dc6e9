import type { AnomalyEvent } from '../../detect/event/anomaly-event.ts';
import { dedupKeyOfSeries } from '../../detect/event/anomaly-identity.ts';

/** An anomaly of which something was emitted. */
export interface EmittedEpisode {
  readonly id: string;
  readonly dedupKey: string;
  /** Start of the window that resolved it; undefined while it is open. */
  readonly resolvedMs: number | undefined;
}

/**
 * Ids of those of a detector's open anomalies that were emitted: under the same id, or under another one. An
 * anomaly's start, and so its id, is another where windows have received more requests. Then it is the same if
 * kind and series are, and it began before that one was over.
 */
export function emittedIds(
  own: readonly Pick<AnomalyEvent, 'id' | 'dedup_key' | 'started_at'>[],
  emitted: readonly EmittedEpisode[],
): ReadonlySet<string> {
  const ids = new Set(emitted.map(({ id }) => id));
  const overMs = new Map<string, number>();
  for (const { dedupKey, resolvedMs = Number.POSITIVE_INFINITY } of emitted) {
    const key = dedupKeyOfSeries(dedupKey);
    overMs.set(key, Math.max(resolvedMs, overMs.get(key) ?? resolvedMs));
  }
  const isEmitted = ({ id, dedup_key, started_at }: (typeof own)[number]) =>
    ids.has(id) || Date.parse(started_at) < (overMs.get(dedupKeyOfSeries(dedup_key)) ?? -Infinity);
  return new Set(own.filter(isEmitted).map(({ id }) => id));
}
