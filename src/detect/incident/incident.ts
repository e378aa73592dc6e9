import { totalStage } from '../../base/dimensions.ts';
import { invariant } from '../../base/invariant.ts';
import { seriesKey, seriesOf } from '../../series/series-key.ts';
import type { Series } from '../../series/series-window.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import { UnreadableState } from '../../snapshot/unreadable-state.ts';
import type { AnomalyEvent, ScopeMember, Severity } from '../event/anomaly-event.ts';
import { dedupKeyOfSeries, firstMemberIdOf } from '../event/anomaly-identity.ts';
import { anomalySummary } from '../event/anomaly-summary.ts';
import { severity as severityOf } from '../event/severity.ts';
import { serializeEvent } from '../event/snapshot-event.ts';
import { UpdateBackoff } from '../lifecycle/update-backoff.ts';
import { extentOf } from './extent-of.ts';
import { incidentScope, maxScopeValues } from './incident-scope.ts';
import { incidentSummary } from './incident-summary.ts';

/** What a step tells an incident beside its events. */
export interface IncidentContext {
  /** Start of the window. */
  readonly startMs: number;
  readonly nowMs: number;
  /** All series with enough traffic of late to be judged, or models, as anomalies of the kind are of. */
  readonly live: (kind: AnomalyEvent['kind']) => readonly Series[];
}

interface Member {
  /** The series' own anomaly as it stands, under its own id. */
  readonly event: AnomalyEvent;
  /** The same as the table has it; undefined while the incident is of one series. */
  readonly row: AnomalyEvent | undefined;
}

/** Half as many series again are news. */
const materialGrowth = 1.5;
/** Members that an event lists. */
const membersListed = 10;
const severities: readonly Severity[] = ['info', 'warning', 'critical'];

/**
 * One cause: the anomalies of the series that it hits, told as one. While it is of one series, that series'
 * events are what is told, as they are. From the second series on, each has rows of its own in the table
 * (`incident_id` names the whole), and what is told is of all: opened once, updated when it reaches much
 * further or becomes critical, resolved when the last series is back.
 *
 * Its id and its dimensions are those of the anomaly that opened it. All it knows is in the last events of the
 * table, so that another process goes on with it.
 */
export class Incident {
  readonly #dedupKey: string;
  readonly #leadId: string;
  readonly #members = new Map<string, Member>();
  /** Changed in this step. */
  readonly #changed = new Set<string>();
  /** As last told; undefined before the first time. */
  #published: AnomalyEvent | undefined;
  #wait: UpdateBackoff;

  /**
   * @param lead the anomaly that opens it.
   * @param dedupKey what pagers know it by.
   */
  constructor(lead: AnomalyEvent, dedupKey: string, windowMs: number) {
    this.#dedupKey = dedupKey;
    this.#wait = new UpdateBackoff(windowMs);
    this.#leadId = lead.id;
    this.observe(lead);
  }

  /**
   * From the table: the last event that was told, and the last row of each of its members, which are none
   * while it is of one series.
   *
   * @param judged what was judged of the same incident; what was told counts, but it knows how often each series
   * was told of, and when. It is of no use where it comes to other events than those that were emitted.
   */
  static restored(
    published: AnomalyEvent,
    rows: readonly AnomalyEvent[],
    windowMs: number,
    judged?: Incident,
  ): Incident {
    const own = judged?.publishedRevision === published.revision ? judged : undefined;
    const firstId = firstMemberIdOf(published.id);
    const byId = new Map(rows.map((row) => [row.id === firstId ? published.id : row.id, row]));
    const ownMembers = own === undefined ? new Map<string, Member>() : own.#members;
    const ofOwn = (id: string) => ownMembers.get(id)?.event;
    const lead = ofSeries(byId.get(published.id) ?? published, published.id, ofOwn(published.id));
    const incident = new Incident(lead, published.dedup_key, windowMs);
    incident.#published = published;
    for (const id of new Set([...ownMembers.keys(), ...byId.keys()])) {
      const row = byId.get(id);
      if (row === undefined) continue;
      incident.#members.set(id, { event: ofSeries(row, id, ofOwn(id)), row });
    }
    incident.#changed.clear();
    if (own !== undefined) incident.#wait = own.#wait;
    return incident;
  }

  /** Saves one, or makes the one that was saved. */
  static serialize(state: StateArchive, saved: Incident | undefined, windowMs: number): Incident {
    let restored = saved;
    state.section('incident', 1, () => {
      const dedupKey = state.text(saved?.dedupKey ?? '');
      const known = saved === undefined ? [] : saved.#members.values();
      const members = state.list<Member>(known, (member) => ({
        event: serializeEvent(state, member?.event),
        row: state.optional(member?.row, (row) => serializeEvent(state, row)),
      }));
      const [lead] = members;
      if (lead === undefined) throw new UnreadableState('an incident has no anomaly');
      restored ??= new Incident(lead.event, dedupKey, windowMs);
      for (const member of members) restored.#members.set(member.event.id, member);
      restored.#changed.clear();
      restored.#published = state.optional(restored.#published, (event) =>
        serializeEvent(state, event),
      );
      restored.#wait.serialize(state);
    });
    return restored as Incident;
  }

  /**
   * Takes an event or a row that others have stored for its own of the same revision.
   *
   * @returns the anomaly of a series that it is of, if it is of one.
   */
  adopt(stored: AnomalyEvent): AnomalyEvent | undefined {
    const isRow = stored.incident_id !== undefined;
    const id = isRow && stored.id === firstMemberIdOf(this.#leadId) ? this.#leadId : stored.id;
    const member = this.#members.get(id);
    if (!isRow) {
      if (stored.revision !== this.#published?.revision) return undefined;
      this.#published = stored;
      if (stored.scope !== undefined || member === undefined) return undefined;
    } else if (stored.revision !== member?.row?.revision) return undefined;
    const event = ofSeries(stored, id, member.event);
    this.#members.set(id, { event, row: isRow ? stored : member.row });
    return event;
  }

  get id(): string {
    return this.#leadId;
  }

  /** Revision of the last event; undefined before the first. */
  get publishedRevision(): number | undefined {
    return this.#published?.revision;
  }

  get dedupKey(): string {
    return this.#dedupKey;
  }

  get kind(): AnomalyEvent['kind'] {
    return this.lead.kind;
  }

  /** The anomaly that opened it, as it stands. */
  get lead(): AnomalyEvent {
    const member = this.#members.get(this.#leadId);
    invariant(member !== undefined, `incident ${this.#leadId} has lost its first anomaly`);
    return member.event;
  }

  /** Anomalies of its series as they stand, those that are over too. */
  get anomalies(): AnomalyEvent[] {
    return [...this.#members.values()].map(({ event }) => event);
  }

  get openAnomalies(): AnomalyEvent[] {
    return this.anomalies.filter(({ state }) => state !== 'resolved');
  }

  get severity(): Severity {
    return mostSevere([this.#published?.severity ?? 'info', ofAll(this.openAnomalies)]);
  }

  get isOver(): boolean {
    return this.openAnomalies.length === 0;
  }

  /** What the table holds of it: the last event that was told and the rows of its series. */
  get stored(): AnomalyEvent[] {
    const rows = [...this.#members.values()].flatMap(({ row }) => row ?? []);
    return this.#published === undefined ? rows : [this.#published, ...rows];
  }

  /** Takes what a series tells: a new anomaly, or how one of its own goes on. */
  observe(event: AnomalyEvent): void {
    this.#members.set(event.id, { event, row: this.#members.get(event.id)?.row });
    this.#changed.add(event.id);
  }

  /** What is to be told after a step, in the order in which it is to be stored. */
  release(context: IncidentContext): AnomalyEvent[] {
    const isNew = this.#published === undefined;
    this.#wait.reach(context.startMs, this.#published ?? this.lead);
    const rows = this.#members.size === 1 ? [] : this.#rows();
    const news = this.#news(context);
    this.#changed.clear();
    if (news === undefined) return rows;
    this.#published = news;
    this.#wait.begin();
    return isNew ? [news, ...rows] : [...rows, news];
  }

  #news(context: IncidentContext): AnomalyEvent | undefined {
    const published = this.#published;
    if (this.#members.size === 1) {
      if (!this.#changed.has(this.#leadId)) return undefined;
      return { ...this.lead, dedup_key: this.#dedupKey };
    }
    if (published === undefined) return this.#event('opened', 1, context);
    if (this.isOver) return this.#event('resolved', published.revision + 1, context);
    if (!this.#isNews(published)) return undefined;
    return this.#event('updated', published.revision + 1, context);
  }

  #isNews(published: AnomalyEvent): boolean {
    if (this.severity !== published.severity || this.#isCriticalElsewhere(published)) return true;
    if (!this.#wait.isOver(published)) return false;
    const { lead } = this;
    const hasGrown = extentOf(lead) !== extentOf(published) || lead.stage !== published.stage;
    const affected = this.#affected();
    const models = Math.min(maxScopeValues, new Set(affected.map(({ model }) => model)).size);
    const publishedModels =
      published.scope?.values.filter((each) => each.dimension === 'model').length ?? 0;
    const isWider = affected.length >= materialGrowth * (published.scope?.affected ?? 1);
    return hasGrown || isWider || models > Math.max(1, publishedModels);
  }

  /**
   * Whether a model is critical that was not when it was last told: its team may have no page but this. Where
   * there were more than an event lists, it is not known which.
   */
  #isCriticalElsewhere(published: AnomalyEvent): boolean {
    const listed = published.members ?? [published];
    if (listed.length >= membersListed) return false;
    const isCritical = ({ severity }: Pick<AnomalyEvent, 'severity'>) => severity === 'critical';
    const known = new Set(listed.filter(isCritical).map(({ model }) => model));
    return this.openAnomalies.some((event) => isCritical(event) && !known.has(event.model));
  }

  #event(
    state: AnomalyEvent['state'],
    revision: number,
    { nowMs, live }: IncidentContext,
  ): AnomalyEvent {
    const { lead, openAnomalies } = this;
    const affected = this.#affected();
    const scope = incidentScope({
      affected: affected.map(seriesOf),
      unresolved: new Set(openAnomalies.map(seriesKey)).size,
      live: live(lead.kind),
    });
    const iso = new Date(nowMs).toISOString();
    const [worst = lead] = affected;
    const last = state === 'resolved' ? this.#lastToRecover() : worst;
    return {
      ...lead,
      dedup_key: this.#dedupKey,
      revision,
      state,
      severity: this.severity,
      emitted_at: iso,
      resolved_at: state === 'resolved' ? iso : null,
      resolution: state === 'resolved' ? last.resolution : null,
      summary: incidentSummary({
        state,
        scope,
        models: [...new Set(affected.map(({ model }) => model))],
        detail: last.summary,
      }),
      scope,
      members: affected.slice(0, membersListed).map((event) => this.#listed(event)),
    };
  }

  /** The latest anomaly of each series that it has hit, those that are open and worst first. */
  #affected(): AnomalyEvent[] {
    const latest = new Map<string, AnomalyEvent>();
    for (const event of this.anomalies) {
      const key = seriesKey(event);
      const other = latest.get(key);
      if (other === undefined || other.started_at < event.started_at) latest.set(key, event);
    }
    const isOpen = ({ state }: AnomalyEvent) => (state === 'resolved' ? 0 : 1);
    return [...latest.values()].sort(
      (a, b) =>
        isOpen(b) - isOpen(a) || extentOf(b) - extentOf(a) || (a.dedup_key < b.dedup_key ? -1 : 1),
    );
  }

  /** Of several that recovered in the same window the worst. */
  #lastToRecover(): AnomalyEvent {
    const at = (event: AnomalyEvent) => event.resolved_at ?? '';
    return this.#affected().reduce((last, event) => (at(event) > at(last) ? event : last));
  }

  /** Rows of the series that are new to the table or have changed. */
  #rows(): AnomalyEvent[] {
    const rows: AnomalyEvent[] = [];
    // The first series' row goes first: where it is missing, nothing but the incident is in the table.
    for (const [id, { event, row: last }] of this.#members) {
      if (last !== undefined && !this.#changed.has(id)) continue;
      const row: AnomalyEvent = {
        ...event,
        id: id === this.#leadId ? firstMemberIdOf(id) : id,
        revision: (last?.revision ?? 0) + 1,
        state: last === undefined ? 'opened' : event.state,
        incident_id: this.#leadId,
      };
      this.#members.set(id, { event, row });
      rows.push(row);
    }
    return rows;
  }

  #listed(event: AnomalyEvent): ScopeMember {
    const { stage, severity, observed_ms, baseline_ms, ratio, started_at, resolved_at } = event;
    const id = event.id === this.#leadId ? firstMemberIdOf(event.id) : event.id;
    const measured = { stage, severity, observed_ms, baseline_ms, ratio, rate: event.rate };
    return { id, ...seriesOf(event), ...measured, started_at, resolved_at };
  }
}

/**
 * A series' own anomaly again, from what the table has: of it, or of the incident that it opened.
 *
 * @param own as it was judged, if it was: rows count how often they were stored, not how often it was told.
 */
function ofSeries(stored: AnomalyEvent, id: string, own?: AnomalyEvent): AnomalyEvent {
  const { scope, members: _members, incident_id: _incident, ...event } = stored;
  const again = { ...event, id, dedup_key: dedupKeyOfSeries(event.dedup_key) };
  if (own !== undefined && isOver(own) === isOver(again)) {
    again.revision = own.revision;
    again.state = own.state;
  }
  if (scope !== undefined) {
    // What it said of itself is in no row: nothing but the whole was stored.
    if (own !== undefined) again.summary = own.summary;
    else if (event.kind === 'tail_shift') again.summary = anomalySummary(again);
  }
  return again;
}

function isOver({ state }: AnomalyEvent): boolean {
  return state === 'resolved';
}

/** That of the worst series, or what they come to together: half of the traffic can be slow, or fail, in small parts. */
function ofAll(open: readonly AnomalyEvent[]): Severity {
  const together = [2, 5].map((ratio) =>
    severityOf({ totalMoved: true, ratio, affectedShare: slowShare(open, ratio) }),
  );
  return mostSevere([...open.map(({ severity }) => severity), ...together]);
}

function slowShare(open: readonly AnomalyEvent[], leastRatio: number): number {
  return open
    .filter((event) => {
      const isTail = event.kind === 'tail_shift' && event.evidence.measured_stage === totalStage;
      const isPart = event.kind === 'error_rate' || event.kind === 'cold_starts';
      return (isTail || isPart) && extentOf(event) >= leastRatio;
    })
    .reduce((sum, { affected_share }) => sum + (affected_share ?? 0), 0);
}

function mostSevere(of: readonly Severity[]): Severity {
  return of.reduce((most, each) =>
    severities.indexOf(each) > severities.indexOf(most) ? each : most,
  );
}
