import type { AnomaliesAnswer, AnomalyRow } from '../../../src/views/answers/anomalies.ts';
import type { ReleaseRow, ReleasesAnswer } from '../../../src/views/answers/releases.ts';
import type { LaneIncident, LaneRelease } from '../charts/parts/event-lane.tsx';
import { hrefTo } from '../state/place.ts';

/** Incidents of an answer for the lane under a chart. */
export function laneIncidents(answer: AnomaliesAnswer | undefined): LaneIncident[] {
  return (answer?.rows ?? []).map((row: AnomalyRow) => ({
    id: row.id,
    title: row.headline,
    href: hrefTo({ view: 'incident', id: row.id }),
    severity: row.severity,
    fromMs: Date.parse(row.started_at),
    toMs: row.resolved_at === null ? null : Date.parse(row.resolved_at),
  }));
}

/** Releases of a model; each leads to its comparison with the version that was busiest. */
export function laneReleases(answer: ReleasesAnswer | undefined, model: string): LaneRelease[] {
  const rows = (answer?.rows ?? []).filter((row) => row.model === model);
  return rows.map((row) => ({
    version: row.version,
    href: hrefTo(
      { view: 'compare' },
      { model, 'a.version': versionBefore(rows, row), 'b.version': row.version },
    ),
    atMs: Date.parse(row.first_seen),
  }));
}

/** The version that was released last before another, where the range knows one. */
function versionBefore(rows: readonly ReleaseRow[], release: ReleaseRow): string | undefined {
  const older = rows.filter(
    ({ first_seen }) => Date.parse(first_seen) < Date.parse(release.first_seen),
  );
  return older.sort((x, y) => Date.parse(y.first_seen) - Date.parse(x.first_seen))[0]?.version;
}
