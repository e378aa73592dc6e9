import { type AnomalyEvent, severities } from '../../contract/anomaly-event.ts';
import { seriesKey } from '../../series/series-key.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import { concurrentMs, type DetectOptions, longestRun } from '../options/detect-options.ts';
import { Incident, type IncidentContext } from './incident.ts';
import { apartMs, nearestIncident } from './nearest-incident.ts';

/** Limits, chosen by hand; test/detect/incident/incident-grouper.test.ts holds them. */
const tuned = {
  /** Affected series, models and share of all series that make one incident, whatever the stages. */
  fleetSeries: 6,
  fleetModels: 3,
  fleetShare: 0.5,
  /** Join time of drifts, which show in some series a day later than in others. */
  driftMs: 86_400_000,
  /** Lower limit of an affected share, also for events without one. */
  leastShare: 1e-6,
} as const;

/**
 * Groups the anomalies of series into incidents: one cause, one page. docs/explained/incidents.md explains
 * the rules.
 */
export class IncidentGrouper {
  readonly #options: DetectOptions;
  #incidents: Incident[] = [];

  constructor(options: DetectOptions) {
    this.#options = options;
  }

  /** Open anomalies as the table stores them: published events, and rows of their series. */
  get open(): AnomalyEvent[] {
    return this.#incidents.flatMap((incident) => incident.stored);
  }

  /**
   * Restores incidents from their last events and the last rows of all their series, recovered ones included.
   * The table wins over its own incidents, which only add fields that no row holds.
   *
   * @returns the open anomalies of series.
   */
  restore(stored: readonly AnomalyEvent[]): AnomalyEvent[] {
    const own = new Map(this.#incidents.map((incident) => [incident.id, incident]));
    this.#incidents = [];
    for (const published of stored.filter(({ incident_id }) => incident_id === undefined)) {
      const rows = stored.filter(({ incident_id }) => incident_id === published.id);
      this.#incidents.push(
        Incident.restored(published, rows, this.#options, own.get(published.id)),
      );
    }
    this.#sort();
    return this.#incidents.flatMap((incident) => incident.openAnomalies);
  }

  /**
   * Replaces its own event or row by the same one as another detector has stored it.
   *
   * @returns the anomaly of the series that it describes, if it is of one.
   */
  adopt(stored: AnomalyEvent): AnomalyEvent | undefined {
    const id = stored.incident_id ?? stored.id;
    return this.#incidents.find((incident) => incident.id === id)?.adopt(stored);
  }

  serialize(state: StateArchive): void {
    state.section('incidents', 1, () => {
      this.#incidents = state.list(this.#incidents, (incident) =>
        Incident.serialize(state, incident, this.#options),
      );
    });
  }

  /** Groups the events of one step into those that are stored and published. */
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
    // The heaviest comes first: it opens the incident and is published unchanged.
    opened.sort(byWeight);
    opened.forEach((event, i) => {
      const incident = this.#incidentFor(event, opened.slice(i), context);
      if (incident !== undefined) incident.observe(event);
      else {
        const key = this.#freeKey(event.dedup_key);
        this.#incidents.push(new Incident(event, key, this.#options));
      }
    });
    this.#sort();
    const emitted = this.#incidents.flatMap((incident) =>
      incident.release({ ...context, elsewhere: () => this.#seriesBeside(incident) }),
    );
    this.#incidents = this.#incidents.filter(({ isOver }) => !isOver);
    return emitted;
  }

  #incidentFor(
    event: AnomalyEvent,
    together: readonly AnomalyEvent[],
    context: IncidentContext,
  ): Incident | undefined {
    const { group_by: groupBy, window: windowMs } = this.#options;
    if (groupBy === 'series') return undefined;
    // Within a day unrelated models may drift, too.
    const isDrift = event.kind === 'drift';
    const isOfAnyModel = groupBy === 'cause' && !isDrift;
    const candidates = this.#incidents.filter(
      ({ isOver, lead }) =>
        lead.kind === event.kind && !isOver && (isOfAnyModel || lead.model === event.model),
    );
    const joinMs = isDrift ? tuned.driftMs : longestRun * windowMs;
    const nearest = nearestIncident(event, candidates, joinMs, this.#options);
    if (nearest !== undefined || !isOfAnyModel) return nearest;
    // An anomaly of another model that begins minutes later has another cause, however many there are.
    const isNear = (other: AnomalyEvent) => apartMs(event, other) <= concurrentMs(this.#options);
    const near = candidates.filter(({ lead }) => isNear(lead));
    if (near.length === 0) return undefined;
    const started = [...candidates.flatMap((incident) => incident.openAnomalies), ...together];
    const affected = started.filter((other) => other.kind === event.kind && isNear(other));
    const series = new Set(affected.map(seriesKey)).size;
    const models = new Set(affected.map(({ model }) => model)).size;
    const isFleet = series >= tuned.fleetSeries && models >= tuned.fleetModels;
    if (!isFleet || series < tuned.fleetShare * context.live(event.kind).length) return undefined;
    return near.reduce((largest, each) =>
      each.anomalies.length > largest.anomalies.length ? each : largest,
    );
  }

  /** Series with an open anomaly of the same kind in another incident. */
  #seriesBeside({ id, lead }: Incident): ReadonlySet<string> {
    const others = this.#incidents.filter((each) => each.id !== id && each.lead.kind === lead.kind);
    return new Set(others.flatMap(({ openAnomalies }) => openAnomalies.map(seriesKey)));
  }

  /** A key that no open incident has: a recovered series may open a second one meanwhile. */
  #freeKey(dedupKey: string): string {
    const used = new Set(this.#incidents.map((incident) => incident.dedupKey));
    let key = dedupKey;
    for (let n = 2; used.has(key); n++) key = `${dedupKey}.${n}`;
    return key;
  }

  #sort(): void {
    this.#incidents.sort((a, b) => (a.sortKey < b.sortKey ? -1 : 1));
  }
}

/**
 * Orders anomalies by weight; the first one names the incident, also for pagers. Shares of equally affected
 * series differ in the third digit by the merge order of digests, which must not change the name.
 */
function byWeight(a: AnomalyEvent, b: AnomalyEvent): number {
  return (
    severities.indexOf(b.severity) - severities.indexOf(a.severity) ||
    sizeOf(b) - sizeOf(a) ||
    (seriesKey(a) < seriesKey(b) ? -1 : 1)
  );
}

/** Affected share, in steps of half as much again. */
function sizeOf({ affected_share: share = 0 }: AnomalyEvent): number {
  return Math.round(Math.log(Math.max(share, tuned.leastShare)) / Math.log(1.5));
}
