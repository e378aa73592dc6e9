import type { ClickHouseClient } from '@clickhouse/client';
import { minuteMs } from '../../base/time.ts';
import { type AnomalyEvent, anomalyEventSchema } from '../../contract/anomaly-event.ts';
import { ofWorstSeries } from '../../contract/worst-series.ts';
import type { SizeGrowth } from '../../detect/drivers/size-growth.ts';
import type { TrafficMix } from '../../detect/drivers/traffic-mix.ts';
import { storedQuantiles } from '../../sketch/stored-quantiles.ts';
import { readRows } from '../client/read-query.ts';
import { windowSeconds } from '../windows/read-tails.ts';
import { readEvents } from './anomaly-store.ts';
import { readDrivers, seriesParams } from './read-drivers.ts';

/** The tail at one time. */
export interface TimelinePoint {
  readonly at_ms: number;
  /** Length of the step that is counted. */
  readonly step_seconds: number;
  readonly requests: number;
  /** Errors and timeouts among them. */
  readonly failed: number;
  readonly cold_starts: number;
  /** The anomaly's quantile of the measured stage. */
  readonly quantile_ms: number;
}

/** Rows of the tables on an anomaly, without its requests. */
export interface Explanation {
  /** Oldest first; the last is the current state. */
  readonly events: readonly AnomalyEvent[];
  /** From before its start to after its end, or to now. Empty where retention has removed it. */
  readonly timeline: readonly TimelinePoint[];
  /** Those of the current state, as messages and pages show them. */
  readonly drivers: NonNullable<AnomalyEvent['drivers']>;
  /** Shows if more large requests came in the measured windows; null where that is unknown. */
  readonly mix: TrafficMix | SizeGrowth | null;
  /** Latest state of each affected series of an incident: unresolved and most affected first. */
  readonly members: readonly AnomalyEvent[];
}

/** Time shown before and after the anomaly. */
const contextMs = 10 * minuteMs;
/** Maximum of points in `timeline`. */
const timelinePoints = 60;
const eventsRead = 1_000;
const membersRead = 1_000;

export type Found =
  | { readonly events: readonly AnomalyEvent[] }
  /** Ids that begin with it. */
  | { readonly ids: readonly string[] };

/**
 * Finds the events of the anomaly whose id equals or begins with `id`; '' finds the most severe open one, else the
 * newest.
 */
export async function findAnomaly(client: ClickHouseClient, id: string): Promise<Found> {
  const rows = await readRows<{ id: string; body: string }>(client, 'anomaly_events', {
    id,
    limit: eventsRead,
  });
  const ids = [...new Set(rows.map((row) => row.id))];
  if (ids.length > 1) return { ids };
  return { events: rows.map(({ body }) => anomalyEventSchema.parse(JSON.parse(body))) };
}

/**
 * Reads everything about an anomaly from the tables.
 *
 * @param events all its events, oldest first; at least one.
 * @param time `nowMs` is the end of an unresolved anomaly, `windowMs` the length of the detector's windows.
 */
export async function explainAnomaly(
  client: ClickHouseClient,
  events: readonly AnomalyEvent[],
  { nowMs, windowMs }: { readonly nowMs: number; readonly windowMs: number },
): Promise<Explanation> {
  const last = events.at(-1) as AnomalyEvent;
  const { shownFromMs, shownToMs } = shownRange(last, nowMs);
  // The series whose numbers the summary has.
  const worst = ofWorstSeries(last);
  const [timeline, { mix = null }, members] = await Promise.all([
    readTimeline(client, worst, shownFromMs, shownToMs),
    readDrivers(client, worst, windowMs),
    readMembers(client, last.id),
  ]);
  return { events, timeline, drivers: last.drivers ?? [], mix, members };
}

/** Affected series of an incident, each as it stands: unresolved and most affected first. None of other anomalies. */
export function readMembers(client: ClickHouseClient, id: string): Promise<AnomalyEvent[]> {
  return readEvents(client, 'incident_members', { id, limit: membersRead });
}

/** From when on a chart of an anomaly shows it, and until when: `nowMs` while it is open. */
export function shownRange(event: AnomalyEvent, nowMs: number) {
  const fromMs = Date.parse(event.started_at);
  const toMs = Math.max(
    fromMs + minuteMs,
    Date.parse(event.ended_at ?? event.resolved_at ?? '') || nowMs,
  );
  // A slow drift shows against the week before.
  const baselineMs = Date.parse(event.evidence.baseline_from);
  const shownFromMs = event.kind === 'drift' ? baselineMs : fromMs - contextMs;
  return { fromMs, toMs, shownFromMs, shownToMs: Math.min(nowMs, toMs + contextMs) };
}

async function readTimeline(
  client: ClickHouseClient,
  event: AnomalyEvent,
  fromMs: number,
  toMs: number,
): Promise<TimelinePoint[]> {
  const resolution = toMs - fromMs > 12 * 60 * minuteMs ? '1h' : '1m';
  const step = windowSeconds[resolution];
  const stepSeconds = step * Math.ceil((toMs - fromMs) / 1000 / step / timelinePoints);
  const rows = await readRows<{
    at_seconds: string;
    requests: string;
    failed: string;
    cold_starts: string;
    q_ms: number[];
  }>(client, 'tail_timeline', {
    ...seriesParams(event),
    table: `latency_${resolution}`,
    stage: event.evidence.measured_stage,
    whole: isOfWholeModel(event),
    anyVersion: event.kind === 'drift',
    anyStart: event.kind === 'cold_starts',
    stepSeconds,
    fromSeconds: Math.floor(fromMs / 1000 / stepSeconds) * stepSeconds,
    toSeconds: Math.ceil(toMs / 1000 / stepSeconds) * stepSeconds,
  });
  const index = storedQuantiles.findIndex((q) => q >= event.quantile);
  return rows.map((row) => ({
    at_ms: Number(row.at_seconds) * 1000,
    step_seconds: stepSeconds,
    requests: Number(row.requests),
    failed: Number(row.failed),
    cold_starts: Number(row.cold_starts),
    quantile_ms: Number(row.q_ms.at(index)),
  }));
}

/** True for kinds that concern a whole model, or all models: they have no version and region. */
export function isOfWholeModel({ kind }: AnomalyEvent): boolean {
  return ['throughput_drop', 'no_data', 'slo_burn', 'pipeline'].includes(kind);
}
