import { affectedPerWindow } from '../../contract/affected-requests.ts';
import type { AnomalyEvent, Scope, ScopeMember } from '../../contract/anomaly-event.ts';
import { scopeMember } from '../../contract/scope-member.ts';
import { dimensionValue, seriesKey } from '../../series/series-key.ts';

/** A series of an incident; what older events leave out is that of the incident. */
export interface ListedSeries extends ScopeMember {
  readonly measured_stage: string;
  readonly quantile: number;
}

/** The series of an incident, as its page and `tailmark explain` list them. */
export interface AffectedSeries {
  /** "8 of 10 series affected at the last update, 10 now, 1 not recovered". */
  readonly title: string;
  readonly count: number;
  /** The most affected first, as in the event; then those that it does not list. At most `seriesListed`. */
  readonly listed: readonly ListedSeries[];
  /** Values that all of them have and others of these models do not. */
  readonly common: Scope['common'];
}

const seriesListed = 12;

/**
 * Lists the affected series: measured as the newest event says, which title and messages have too; recovered as
 * they stand now.
 *
 * @param event the newest of the incident.
 * @param rows the anomalies of its series, each as it stands; none of an incident of one series.
 */
export function affectedSeries(event: AnomalyEvent, rows: readonly AnomalyEvent[]): AffectedSeries {
  const current = latestBySeries(rows);
  const known = event.members ?? (current.length === 0 ? [scopeMember(event)] : []);
  const keys = new Set(known.map(seriesKey));
  const others = current.filter((row) => !keys.has(seriesKey(row))).toSorted(byUrgency);
  const rowOf = new Map(current.map((row) => [seriesKey(row), row]));
  const all = [
    ...known.map((member) => endedAs(member, rowOf.get(seriesKey(member)))),
    ...others.map((row) => scopeMember(row)),
  ];
  const { scope } = event;
  const count = Math.max(all.length, scope?.affected ?? 1);
  const open = all.filter(({ resolved_at }) => resolved_at === null).length;
  // Without rows nothing is known but the event.
  const unresolved = current.length === 0 ? (scope?.unresolved ?? open) : open;
  return {
    title: titleOf(scope, count, unresolved),
    count,
    listed: all.slice(0, seriesListed).map((member) => ({
      ...member,
      measured_stage: member.measured_stage ?? event.evidence.measured_stage,
      quantile: member.quantile ?? event.quantile,
    })),
    common: (scope?.common ?? []).filter(({ dimension, value }) =>
      all.every((member) => dimensionValue(member, dimension) === value),
    ),
  };
}

function titleOf(scope: Scope | undefined, count: number, unresolved: number): string {
  const { affected, total } = scope ?? { affected: 1, total: undefined };
  const of = total === undefined ? '' : ` of ${total}`;
  const now = count === affected ? '' : ` at the last update, ${count} now`;
  return `${affected}${of} series affected${now}, ${unresolved} not recovered`;
}

/** The newest anomaly of each series: one that is affected again counts once. */
function latestBySeries(rows: readonly AnomalyEvent[]): AnomalyEvent[] {
  const latest = new Map<string, AnomalyEvent>();
  for (const row of rows) {
    const other = latest.get(seriesKey(row));
    if (other === undefined || other.started_at < row.started_at) latest.set(seriesKey(row), row);
  }
  return [...latest.values()];
}

/** Open ones first, then those with the most affected requests, as in an event. */
function byUrgency(a: AnomalyEvent, b: AnomalyEvent): number {
  const isResolved = ({ state }: AnomalyEvent) => Number(state === 'resolved');
  return isResolved(a) - isResolved(b) || affectedPerWindow(b) - affectedPerWindow(a);
}

/** The series as the event has it, with its end as it stands now. */
function endedAs(member: ScopeMember, row: AnomalyEvent | undefined): ScopeMember {
  if (row === undefined) return member;
  const { started_at, ended_at, resolved_at } = row;
  return { ...member, started_at, ended_at, resolved_at };
}
