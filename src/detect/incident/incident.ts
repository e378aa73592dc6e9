import { invariant } from '../../base/invariant.ts';
import { affectedPerWindow } from '../../contract/affected-requests.ts';
import type { AnomalyEvent, Scope, Severity } from '../../contract/anomaly-event.ts';
import { dedupKeyOfSeries, firstMemberIdOf } from '../../contract/anomaly-identity.ts';
import { withAsOf } from '../../contract/as-of.ts';
import { seriesLabel } from '../../contract/format.ts';
import { scopeMember } from '../../contract/scope-member.ts';
import type { StageTable } from '../../contract/stage-table.ts';
import { seriesKey, seriesOf } from '../../series/series-key.ts';
import type { Series } from '../../series/series-window.ts';
import { type StateArchive, UnreadableState } from '../../snapshot/archive.ts';
import { anomalySummary } from '../event/anomaly-summary.ts';
import { serializeEvent } from '../event/serialize-event.ts';
import { riseReason } from '../event/severity-reason.ts';
import { UpdateBackoff } from '../lifecycle/update-backoff.ts';
import { type DetectOptions, stageTableOf } from '../options/detect-options.ts';
import type { PresentAnomaly } from '../options/detector-step.ts';
import { lastEnd, recoveredField } from './incident-end.ts';
import { incidentScope, maxScopeValues } from './incident-scope.ts';
import {
  affectedShareOf,
  incidentSeverity,
  mostSevere,
  togetherReason,
} from './incident-severity.ts';
import { incidentSummary } from './incident-summary.ts';

/** Context of a step, besides its events. */
export interface IncidentContext {
  readonly startMs: number;
  readonly nowMs: number;
  /** All series, or models for kinds of models, with enough recent traffic to be evaluated. */
  readonly live: (kind: AnomalyEvent['kind']) => readonly Series[];
  /** Open anomalies as they are in this window, by their ids. @default {as of their last events} */
  readonly present?: ReadonlyMap<string, PresentAnomaly>;
}

/** Facts of other incidents that an incident needs. */
export interface ReleaseContext extends IncidentContext {
  /** Series with an open anomaly of its kind in another incident, by `seriesKey`. */
  readonly elsewhere: () => ReadonlySet<string>;
}

interface Member {
  /** Current anomaly of the series, under its own id. */
  readonly event: AnomalyEvent;
  /** Its row of the table; undefined while the incident is of one series. */
  readonly row: AnomalyEvent | undefined;
}

/** Growth of the number of series that justifies an update. */
const materialGrowth = 1.5;
/** Largest number of members in an event. */
const membersListed = 10;

/**
 * The anomalies of all series that one cause affects, emitted as one. While there is one series, its events
 * are published unchanged. From the second series on, each has its own rows in the table, linked by
 * `incident_id`, and the published events cover all. They open once, update when the incident grows much or
 * becomes critical, and resolve with the last series. Id and dimensions are those of the anomaly that opened
 * it.
 */
export class Incident {
  readonly id: string;
  /** Its name for pagers. */
  readonly dedupKey: string;
  /** Orders incidents in the same way in every process. */
  readonly sortKey: string;
  readonly #members = new Map<string, Member>();
  /** Members that changed in this step. */
  readonly #changed = new Set<string>();
  /** Last event; undefined before the first. */
  #published: AnomalyEvent | undefined;
  #backoff: UpdateBackoff;
  readonly #stages: StageTable;

  /** @param lead the anomaly that opens it. */
  constructor(lead: AnomalyEvent, dedupKey: string, options: DetectOptions) {
    this.id = lead.id;
    this.dedupKey = dedupKey;
    this.sortKey = `${seriesKey(lead)} ${lead.id}`;
    this.#backoff = new UpdateBackoff(options.window);
    this.#stages = stageTableOf(options);
    this.observe(lead);
  }

  /**
   * Restores an incident from its last published event and the last rows of its members: none while it is of
   * one series.
   *
   * @param evaluated the same incident as this process evaluated it, for the revisions and times of members.
   * Ignored if it differs from what was published.
   */
  static restored(
    published: AnomalyEvent,
    rows: readonly AnomalyEvent[],
    options: DetectOptions,
    evaluated?: Incident,
  ): Incident {
    const { id, revision } = published;
    const own = evaluated && evaluated.#published?.revision === revision ? evaluated : undefined;
    const firstId = firstMemberIdOf(id);
    const byId = new Map(rows.map((row) => [row.id === firstId ? id : row.id, row]));
    const ownMembers = own === undefined ? new Map<string, Member>() : own.#members;
    const rebuilt = (stored: AnomalyEvent, memberId: string) =>
      seriesAnomaly(stored, memberId, ownMembers.get(memberId)?.event);
    const lead = rebuilt(byId.get(id) ?? published, id);
    const incident = new Incident(lead, published.dedup_key, options);
    incident.#published = published;
    for (const memberId of new Set([...ownMembers.keys(), ...byId.keys()])) {
      const row = byId.get(memberId);
      if (row !== undefined)
        incident.#members.set(memberId, { event: rebuilt(row, memberId), row });
    }
    incident.#changed.clear();
    if (own !== undefined) incident.#backoff = own.#backoff;
    return incident;
  }

  static serialize(
    state: StateArchive,
    saved: Incident | undefined,
    options: DetectOptions,
  ): Incident {
    return state.section('incident', 1, () => {
      const dedupKey = state.text(saved?.dedupKey ?? '');
      const known = saved === undefined ? [] : saved.#members.values();
      const members = state.list<Member>(known, (member) => ({
        event: serializeEvent(state, member?.event),
        row: state.optional(member?.row, (row) => serializeEvent(state, row)),
      }));
      const [lead] = members;
      if (lead === undefined) throw new UnreadableState('an incident has no anomaly');
      const incident = saved ?? new Incident(lead.event, dedupKey, options);
      for (const member of members) incident.#members.set(member.event.id, member);
      incident.#changed.clear();
      incident.#published = state.optional(incident.#published, (event) =>
        serializeEvent(state, event),
      );
      incident.#backoff.serialize(state);
      return incident;
    });
  }

  /**
   * Replaces its event or row by the stored one of the same revision.
   *
   * @returns the anomaly of the series that it describes, if it is of one.
   */
  adopt(stored: AnomalyEvent): AnomalyEvent | undefined {
    const isRow = stored.incident_id !== undefined;
    const id = isRow && stored.id === firstMemberIdOf(this.id) ? this.id : stored.id;
    const member = this.#members.get(id);
    if (!isRow) {
      if (stored.revision !== this.#published?.revision) return undefined;
      this.#published = stored;
      if (stored.scope !== undefined || member === undefined) return undefined;
    } else if (stored.revision !== member?.row?.revision) return undefined;
    const event = seriesAnomaly(stored, id, member.event);
    this.#members.set(id, { event, row: isRow ? stored : member.row });
    return event;
  }

  /** Current state of the anomaly that opened it. */
  get lead(): AnomalyEvent {
    const member = this.#members.get(this.id);
    invariant(member !== undefined, `incident ${this.id} has lost its first anomaly`);
    return member.event;
  }

  /** Current anomalies of its series, resolved ones included. */
  get anomalies(): AnomalyEvent[] {
    return [...this.#members.values()].map(({ event }) => event);
  }

  get openAnomalies(): AnomalyEvent[] {
    return this.anomalies.filter(({ state }) => state !== 'resolved');
  }

  get severity(): Severity {
    const ofOpen = incidentSeverity(this.openAnomalies, this.#stages);
    return mostSevere([this.#published?.severity ?? 'info', ofOpen]);
  }

  get isOver(): boolean {
    return this.openAnomalies.length === 0;
  }

  /** The last published event and the rows of its series, as the table stores them. */
  get stored(): AnomalyEvent[] {
    const rows = [...this.#members.values()].flatMap(({ row }) => row ?? []);
    return this.#published === undefined ? rows : [this.#published, ...rows];
  }

  /** Records the last event of a member, or adds a new one. */
  observe(event: AnomalyEvent): void {
    this.#members.set(event.id, { event, row: this.#members.get(event.id)?.row });
    this.#changed.add(event.id);
  }

  /** Releases the events and rows of a step, in the order in which they are to be stored. */
  release(context: ReleaseContext): AnomalyEvent[] {
    const isNew = this.#published === undefined;
    this.#backoff.reach(context.startMs, this.#published ?? this.lead);
    const rows = this.#members.size === 1 ? [] : this.#rows();
    const event = this.#nextEvent(context);
    this.#changed.clear();
    if (event === undefined) return rows;
    this.#published = event;
    this.#backoff.begin();
    return isNew ? [event, ...rows] : [...rows, event];
  }

  #nextEvent(context: ReleaseContext): AnomalyEvent | undefined {
    const published = this.#published;
    if (this.#members.size === 1) {
      if (!this.#changed.has(this.id)) return undefined;
      return { ...this.lead, dedup_key: this.dedupKey };
    }
    if (published === undefined) return this.#event('opened', context);
    if (this.isOver) return this.#event('resolved', context);
    return this.#needsUpdate(published, context) ? this.#event('updated', context) : undefined;
  }

  /** Of what no window shows any more nobody needs to hear: its end is next, or it goes on. */
  #needsUpdate(published: AnomalyEvent, { present }: ReleaseContext): boolean {
    if (this.severity !== published.severity || this.#isCriticalElsewhere(published)) return true;
    if (this.openAnomalies.every(({ id }) => present?.get(id)?.isClear)) return false;
    if (!this.#backoff.hasElapsed(published)) return false;
    const affected = this.#affected(this.anomalies);
    const models = Math.min(maxScopeValues, new Set(affected.map(({ model }) => model)).size);
    const publishedModels =
      published.scope?.values.filter((each) => each.dimension === 'model').length ?? 0;
    const isWider = affected.length >= materialGrowth * (published.scope?.affected ?? 1);
    return this.#hasLeadGrown(published) || isWider || models > Math.max(1, publishedModels);
  }

  /**
   * Reports whether a further model is critical since the last event: its team may have no other page. Longer
   * incidents do not list all models, so this is unknown for them.
   */
  #isCriticalElsewhere(published: AnomalyEvent): boolean {
    const listed = published.members ?? [published];
    if (listed.length >= membersListed) return false;
    const isCritical = ({ severity }: Pick<AnomalyEvent, 'severity'>) => severity === 'critical';
    const known = new Set(listed.filter(isCritical).map(({ model }) => model));
    return this.openAnomalies.some((event) => isCritical(event) && !known.has(event.model));
  }

  /** Reports whether the series that opened it has had an update of its own since the last event. */
  #hasLeadGrown(published: AnomalyEvent): boolean {
    const asOf = ({ measured_at, emitted_at }: AnomalyEvent) => measured_at ?? emitted_at;
    return isOpen(this.lead) && asOf(this.lead) > asOf(published);
  }

  /** The anomaly as it is in this window: its own last event is as of its opening, mostly. */
  #presentOf(event: AnomalyEvent, { present }: ReleaseContext): AnomalyEvent {
    if (event.state === 'resolved') return this.#asPublished(event);
    return this.#changed.has(event.id) ? event : (present?.get(event.id)?.event ?? event);
  }

  /** A series that has recovered, with the last numbers of it that were published: its own may be older. */
  #asPublished(event: AnomalyEvent): AnomalyEvent {
    const published = this.#published;
    const rowId = this.#rowIdOf(event.id);
    const listed = published?.members?.find(({ id }) => id === rowId);
    if (published === undefined || listed?.measured_at === undefined) return event;
    if (listed.measured_at <= (event.measured_at ?? '')) return event;
    const { stage, observed_ms, baseline_ms, ratio, rate, measured_at } = listed;
    return {
      ...event,
      ...this.#publishedWhole(event),
      ...{ stage, observed_ms, baseline_ms, ratio, measured_at },
      quantile: listed.quantile ?? event.quantile,
      ...(rate && { rate }),
    };
  }

  /** All that was published of a series: of the most affected one, and of the one that opened it. */
  #publishedWhole({ id }: AnomalyEvent): AnomalyEvent['worst'] {
    const published = this.#published;
    if (published?.members?.[0]?.id === this.#rowIdOf(id)) return published.worst;
    return id === this.id && published !== undefined ? worstOf(published) : undefined;
  }

  /** The most affected series with numbers of one time: its own ones where others were listed, but not all of them. */
  #whole(event: AnomalyEvent): AnomalyEvent {
    if (isOpen(event) || this.#publishedWhole(event) !== undefined) return event;
    return this.#members.get(event.id)?.event ?? event;
  }

  #event(state: AnomalyEvent['state'], context: ReleaseContext): AnomalyEvent {
    const lead = this.#presentOf(this.lead, context);
    const [first, ...others] = this.#affected(
      this.anomalies.map((each) => this.#presentOf(each, context)),
    );
    const affected = first === undefined ? [] : [this.#whole(first), ...others];
    const { severity } = this;
    const scope = this.#scope(affected, context);
    const iso = new Date(context.nowMs).toISOString();
    const [worst = lead] = affected;
    const last = state === 'resolved' ? this.#lastToRecover() : worst;
    const { recovered: _, ...shown } = lead;
    return {
      ...shown,
      dedup_key: this.dedupKey,
      revision: (this.#published?.revision ?? 0) + 1,
      state,
      severity,
      ...this.#reasonField(severity),
      emitted_at: iso,
      ended_at: state === 'resolved' ? lastEnd(affected) : null,
      resolved_at: state === 'resolved' ? iso : null,
      resolution: state === 'resolved' ? last.resolution : null,
      ...(state === 'resolved' ? recoveredField(affected) : {}),
      summary: incidentSummary({
        state,
        scope,
        models: [...new Set(affected.map(({ model }) => model))],
        detail: last.summary,
      }),
      scope,
      members: affected
        .slice(0, membersListed)
        .map((event) => scopeMember(event, this.#rowIdOf(event.id))),
      worst: worstOf(worst),
      ...affectedShareOf(state === 'resolved' ? affected : affected.filter(isOpen)),
    };
  }

  /** The reason of its last rise: that of the series that is so severe, or that of all of them together. */
  #reasonField(severity: Severity): Pick<AnomalyEvent, 'severity_reason'> {
    const published = this.#published;
    if (published === undefined || published.severity === severity) {
      const reason = published?.severity_reason;
      return reason === undefined ? {} : { severity_reason: reason };
    }
    const open = this.#affected(this.openAnomalies);
    const one = open.find((event) => event.severity === severity);
    if (one === undefined) return { severity_reason: togetherReason(open, this.#stages) };
    const reason = one.severity_reason ?? riseReason(one);
    return { severity_reason: `${seriesLabel(one)}: ${reason}` };
  }

  /**
   * Its extent: as published, while no further series is affected. Series that come and go afterwards would
   * change "4 of 8" to "4 of 10" in the message of the end.
   */
  #scope(affected: readonly AnomalyEvent[], { live, elsewhere }: ReleaseContext): Scope {
    const unresolved = new Set(this.openAnomalies.map(seriesKey)).size;
    const published = this.#published?.scope;
    if (published?.affected === affected.length) return { ...published, unresolved };
    const all = live(this.lead.kind);
    const here = affected.map(seriesOf);
    return incidentScope({ affected: here, unresolved, live: all, elsewhere: elsewhere() });
  }

  /**
   * Latest anomaly of each affected series: open ones first, then those with the most affected requests. The
   * largest ratio would be that of the series with fewest requests.
   */
  #affected(anomalies: readonly AnomalyEvent[]): AnomalyEvent[] {
    const latest = new Map<string, AnomalyEvent>();
    for (const event of anomalies) {
      const key = seriesKey(event);
      const other = latest.get(key);
      if (other === undefined || other.started_at < event.started_at) latest.set(key, event);
    }
    return [...latest.values()].sort(
      (a, b) =>
        Number(isOpen(b)) - Number(isOpen(a)) ||
        affectedPerWindow(b) - affectedPerWindow(a) ||
        (a.dedup_key < b.dedup_key ? -1 : 1),
    );
  }

  /** The last anomaly to recover; the most affected of several in the same window. */
  #lastToRecover(): AnomalyEvent {
    const at = (event: AnomalyEvent) => event.resolved_at ?? '';
    return this.#affected(this.anomalies).reduce((last, event) =>
      at(event) > at(last) ? event : last,
    );
  }

  /** New or changed rows. */
  #rows(): AnomalyEvent[] {
    const rows: AnomalyEvent[] = [];
    // The lead's row comes first: if it is missing, the table holds only the incident.
    for (const [id, { event, row: last }] of this.#members) {
      if (last !== undefined && !this.#changed.has(id)) continue;
      const row: AnomalyEvent = {
        ...event,
        id: this.#rowIdOf(id),
        revision: (last?.revision ?? 0) + 1,
        state: last === undefined ? 'opened' : event.state,
        incident_id: this.id,
      };
      this.#members.set(id, { event, row });
      rows.push(row);
    }
    return rows;
  }

  #rowIdOf(memberId: string): string {
    return memberId === this.id ? firstMemberIdOf(memberId) : memberId;
  }
}

/**
 * Rebuilds a series' own anomaly from its stored row, or from the incident that it opened.
 *
 * @param own the anomaly as this process evaluated it: the revision of a row counts rows, not events.
 */
function seriesAnomaly(stored: AnomalyEvent, id: string, own?: AnomalyEvent): AnomalyEvent {
  const { scope, members: _members, worst: _worst, incident_id: _incident, ...event } = stored;
  const rebuilt = { ...event, id, dedup_key: dedupKeyOfSeries(event.dedup_key) };
  if (own !== undefined && (own.state === 'resolved') === (rebuilt.state === 'resolved')) {
    rebuilt.revision = own.revision;
    rebuilt.state = own.state;
  }
  if (scope !== undefined) {
    // The incident's event replaced the series' own summary.
    if (own !== undefined) rebuilt.summary = own.summary;
    else if (event.kind === 'tail_shift')
      rebuilt.summary = withAsOf(anomalySummary(rebuilt), rebuilt.measured_at);
  }
  return rebuilt;
}

function isOpen({ state }: AnomalyEvent): boolean {
  return state !== 'resolved';
}

/** Everything that was measured in the most affected series and that a member does not list. */
function worstOf({
  interval_ms,
  requests,
  evidence,
  blame,
  effects,
  bottleneck,
  sql,
}: AnomalyEvent): AnomalyEvent['worst'] {
  const known = { interval_ms, requests, evidence, blame, bottleneck, sql };
  return effects === undefined ? known : { ...known, effects };
}
