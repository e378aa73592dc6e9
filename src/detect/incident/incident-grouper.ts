import { seriesKey } from '../../series/series-key.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import type { AnomalyEvent } from '../event/anomaly-event.ts';
import { type DetectOptions, longestRun } from '../options/detect-options.ts';
import { Incident, type IncidentContext } from './incident.ts';
import { nearestIncident } from './nearest-incident.ts';

/** Where so many series of so many models get slow at once, it is one thing whatever their stages say. */
const fleetSeries = 6;
const fleetModels = 3;
const fleetShare = 0.5;

/** What comes slowly shows in one series a day before it does in another. */
const driftMs = 86_400_000;

/** Shares below count as this one, and so does none. */
const leastShare = 1e-6;

const severities: readonly string[] = ['critical', 'warning', 'info'];

/**
 * One cause, one page: folds the anomalies of series into incidents. What opens goes out at once; what begins
 * close to it and has a cause in common joins, and is told as an update. docs/explained/incidents.md has the rules and
 * why they are so.
 */
export class IncidentGrouper {
  readonly #options: DetectOptions;
  #incidents: Incident[] = [];

  constructor(options: DetectOptions) {
    this.#options = options;
  }

  /** What the table holds of what is open: the events that were told, and rows of their series. */
  get open(): AnomalyEvent[] {
    return this.#incidents.flatMap((incident) => incident.stored);
  }

  /**
   * Goes on with what is open by the table: the last events of incidents, and the last rows of all their
   * series, also of those that are back. Where it has judged the same itself it knows more of an incident than
   * the table; what the table has counts.
   *
   * @returns the anomalies of series that are open.
   */
  restore(stored: readonly AnomalyEvent[]): AnomalyEvent[] {
    const own = new Map(this.#incidents.map((incident) => [incident.id, incident]));
    this.#incidents = [];
    for (const published of stored.filter(({ incident_id }) => incident_id === undefined)) {
      const rows = stored.filter(({ incident_id }) => incident_id === published.id);
      this.#incidents.push(
        Incident.restored(published, rows, this.#options.window, own.get(published.id)),
      );
    }
    this.#sort();
    return this.#incidents.flatMap((incident) => incident.openAnomalies);
  }

  /**
   * Takes what is stored for what was told, where the same was told before by another detector.
   *
   * @returns the anomaly of a series that it tells of, as it stands by that.
   */
  adopt(stored: AnomalyEvent): AnomalyEvent | undefined {
    const id = stored.incident_id ?? stored.id;
    return this.#incidents.find((incident) => incident.id === id)?.adopt(stored);
  }

  serialize(state: StateArchive): void {
    state.section('incidents', 1, () => {
      this.#incidents = state.list(this.#incidents, (incident) =>
        Incident.serialize(state, incident, this.#options.window),
      );
    });
  }

  /** What series tell in one step becomes what is stored and told. */
  group(events: readonly AnomalyEvent[], context: IncidentContext): AnomalyEvent[] {
    if (events.length === 0 && this.#incidents.length === 0) return [];
    const opened: AnomalyEvent[] = [];
    for (const event of events) {
      const known = this.#incidents.find(({ anomalies }) =>
        anomalies.some(({ id }) => id === event.id),
      );
      if (known === undefined) opened.push(event);
      else known.observe(event);
    }
    // The clearest first: it is the one that is told as it is.
    opened.sort(byWeight);
    opened.forEach((event, i) => {
      const incident = this.#incidentFor(event, opened.slice(i), context);
      if (incident !== undefined) incident.observe(event);
      else this.#incidents.push(this.#newIncident(event));
    });
    this.#sort();
    const emitted = this.#incidents.flatMap((incident) => incident.release(context));
    this.#incidents = this.#incidents.filter(({ isOver }) => !isOver);
    return emitted;
  }

  #newIncident(lead: AnomalyEvent): Incident {
    return new Incident(lead, this.#freeKey(lead.dedup_key), this.#options.window);
  }

  #incidentFor(
    event: AnomalyEvent,
    together: readonly AnomalyEvent[],
    context: IncidentContext,
  ): Incident | undefined {
    const { group_by: groupBy, window: windowMs } = this.#options;
    if (groupBy === 'series') return undefined;
    // Within a day models get slower that have nothing to do with each other.
    const isDrift = event.kind === 'drift';
    const isOfAnyModel = groupBy === 'cause' && !isDrift;
    const candidates = this.#incidents.filter(
      ({ kind, isOver, lead }) =>
        kind === event.kind && !isOver && (isOfAnyModel || lead.model === event.model),
    );
    const joinMs = isDrift ? driftMs : longestRun * windowMs;
    const nearest = nearestIncident(event, candidates, joinMs);
    if (nearest !== undefined || !isOfAnyModel) return nearest;
    const isNear = (other: AnomalyEvent) => apartMs(event, other) <= joinMs;
    const near = candidates.filter(({ lead }) => isNear(lead));
    if (near.length === 0) return undefined;
    const begun = [...candidates.flatMap((incident) => incident.openAnomalies), ...together];
    const hit = begun.filter((other) => other.kind === event.kind && isNear(other));
    const series = new Set(hit.map(seriesKey)).size;
    const models = new Set(hit.map(({ model }) => model)).size;
    const isFleet = series >= fleetSeries && models >= fleetModels;
    if (!isFleet || series < fleetShare * context.live(event.kind).length) return undefined;
    return near.reduce((largest, each) =>
      each.anomalies.length > largest.anomalies.length ? each : largest,
    );
  }

  /** A series that recovered may be hit by something else while its first page is open: not by the same key. */
  #freeKey(dedupKey: string): string {
    const used = new Set(this.#incidents.map((incident) => incident.dedupKey));
    let key = dedupKey;
    for (let n = 2; used.has(key); n++) key = `${dedupKey}.${n}`;
    return key;
  }

  /** The order in which things are told does not hang on which was first in memory. */
  #sort(): void {
    const keys = new Map(this.#incidents.map((each) => [each, seriesKey(each.lead)]));
    const keyOf = (incident: Incident) => `${keys.get(incident)} ${incident.id}`;
    this.#incidents.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }
}

/**
 * The first of these names the incident, for pagers too. Series that a cause hits alike have shares alike, which
 * differ in the third digit by the order in which parts of a digest were merged: that must not name it otherwise.
 */
function byWeight(a: AnomalyEvent, b: AnomalyEvent): number {
  return (
    severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
    sizeOf(b) - sizeOf(a) ||
    (seriesKey(a) < seriesKey(b) ? -1 : 1)
  );
}

/** How many are hit, in steps of half as many again. */
function sizeOf({ affected_share: share = 0 }: AnomalyEvent): number {
  return Math.round(Math.log(Math.max(share, leastShare)) / Math.log(1.5));
}

function apartMs(a: AnomalyEvent, b: AnomalyEvent): number {
  return Math.abs(Date.parse(a.started_at) - Date.parse(b.started_at));
}
