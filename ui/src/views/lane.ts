import type { LaneIncident, LaneRelease } from '../charts/parts/event-lane.tsx';
import type { AnomaliesAnswer, AnomalyRow, ReleasesAnswer } from '../data/answers.ts';
import { hrefTo } from '../state/place.ts';
import type { Changes } from '../state/url.ts';
import { endMsOf } from './incident-end.ts';

/** Incidents of an answer for the lane under a chart. */
export function laneIncidents(answer: AnomaliesAnswer | undefined): LaneIncident[] {
  return (answer?.rows ?? []).map((row: AnomalyRow) => ({
    id: row.id,
    title: row.headline,
    href: hrefTo({ view: 'incident', id: row.id }),
    severity: row.severity,
    fromMs: Date.parse(row.started_at),
    toMs: endMsOf(row),
  }));
}

/**
 * Releases of a model; each leads to its comparison with the version before it.
 *
 * @param range of the comparison, where the page's address has another one or none.
 */
export function laneReleases(
  answer: ReleasesAnswer | undefined,
  model: string,
  range: Changes = {},
): LaneRelease[] {
  const rows = (answer?.rows ?? []).filter((row) => row.model === model);
  return rows.map(({ version, first_seen }) => ({
    version,
    href: hrefTo(
      { view: 'compare' },
      { ...range, model, version: undefined, 'b.version': version },
    ),
    atMs: Date.parse(first_seen),
  }));
}
