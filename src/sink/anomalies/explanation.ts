import type { ClickHouseClient } from '@clickhouse/client';
import { storedQuantiles } from '../../base/stored-quantiles.ts';
import type { Driver } from '../../detect/drivers/drivers.ts';
import type { TrafficMix } from '../../detect/drivers/traffic-mix.ts';
import { type AnomalyEvent, anomalyEventSchema } from '../../detect/event/anomaly-event.ts';
import { rowsOf } from '../chunks/rows-of.ts';
import { windowSeconds } from '../read-tails.ts';
import { AnomalyStore, type SlowRequest } from './anomaly-store.ts';
import { readDrivers } from './read-drivers.ts';

/** The tail at one time. */
export interface CoursePoint {
  readonly at_ms: number;
  /** For so long: what is counted is of all of it. */
  readonly step_seconds: number;
  readonly requests: number;
  /** Errors and timeouts among them. */
  readonly failed: number;
  /** Cold starts among them. */
  readonly cold_starts: number;
  /** The quantile of the anomaly, of the stage that was measured. */
  readonly quantile_ms: number;
}

/** All there is to know of an anomaly. */
export interface Explanation {
  /** Oldest first; the last is how it stands. */
  readonly events: readonly AnomalyEvent[];
  /** From before it began to after it ended, or now. Empty where retention has removed it. */
  readonly course: readonly CoursePoint[];
  readonly drivers: readonly Driver[];
  /** Whether more large requests came; null where that cannot be said. */
  readonly mix: TrafficMix | null;
  /** Where it hits several series: each as it stands, those that are open and worst first. */
  readonly members: readonly AnomalyEvent[];
  /** Of the series, while the anomaly lasted. */
  readonly slowest: readonly SlowRequest[];
}

const minuteMs = 60_000;
/** Around the anomaly, before and after. */
const contextMs = 10 * minuteMs;
/** Points of a course at most. */
const coursePoints = 60;
const eventsRead = 1_000;
const membersRead = 1_000;

/** What was found for an id. */
export type Found =
  | { readonly events: readonly AnomalyEvent[] }
  /** The beginning of several. */
  | { readonly ids: readonly string[] };

/** Events of the anomaly whose id is, or begins with, what is given; of the newest for ''. */
export async function findAnomaly(client: ClickHouseClient, id: string): Promise<Found> {
  const rows = await rowsOf<{ id: string; body: string }>(client, 'anomaly_events', {
    id,
    limit: eventsRead,
  });
  const ids = [...new Set(rows.map((row) => row.id))];
  if (ids.length > 1) return { ids };
  return { events: rows.map(({ body }) => anomalyEventSchema.parse(JSON.parse(body))) };
}

/**
 * Reads what the tables have of an anomaly.
 *
 * @param events all of it, oldest first; at least one.
 * @param nowMs up to when an open one has lasted.
 */
export async function explainAnomaly(
  client: ClickHouseClient,
  events: readonly AnomalyEvent[],
  nowMs: number,
): Promise<Explanation> {
  const last = events.at(-1) as AnomalyEvent;
  const fromMs = Date.parse(last.started_at);
  const toMs = Math.max(fromMs + minuteMs, Date.parse(last.resolved_at ?? '') || nowMs);
  // A slow drift shows against the week before.
  const courseFromMs =
    last.kind === 'drift' ? Date.parse(last.evidence.baseline_from) : fromMs - contextMs;
  const [course, { drivers, mix = null }, members, slowest] = await Promise.all([
    readCourse(client, last, courseFromMs, Math.min(nowMs, toMs + contextMs)),
    readDrivers(client, last, fromMs, toMs),
    readMembers(client, last),
    new AnomalyStore(client).slowest(last, fromMs, toMs),
  ]);
  return { events, course, drivers, mix, members, slowest };
}

async function readMembers(
  client: ClickHouseClient,
  { id }: AnomalyEvent,
): Promise<AnomalyEvent[]> {
  const rows = await rowsOf<{ body: string }>(client, 'incident_members', {
    id,
    limit: membersRead,
  });
  return rows.map(({ body }) => anomalyEventSchema.parse(JSON.parse(body)));
}

async function readCourse(
  client: ClickHouseClient,
  event: AnomalyEvent,
  fromMs: number,
  toMs: number,
): Promise<CoursePoint[]> {
  const resolution = toMs - fromMs > 12 * 60 * minuteMs ? '1h' : '1m';
  const step = windowSeconds[resolution];
  const steps = Math.ceil((toMs - fromMs) / 1000 / step / coursePoints);
  const rows = await rowsOf<{
    at_seconds: string;
    requests: string;
    failed: string;
    cold_starts: string;
    q_ms: number[];
  }>(client, 'tail_course', {
    ...seriesOf(event),
    table: `latency_${resolution}`,
    stage: event.evidence.measured_stage,
    whole: isOfWholeModel(event),
    anyVersion: event.kind === 'drift',
    anyStart: event.kind === 'cold_starts',
    stepSeconds: steps * step,
    ...rangeOf(fromMs, toMs, steps * step),
  });
  const index = storedQuantiles.findIndex((q) => q >= event.quantile);
  return rows.map((row) => ({
    at_ms: Number(row.at_seconds) * 1000,
    step_seconds: steps * step,
    requests: Number(row.requests),
    failed: Number(row.failed),
    cold_starts: Number(row.cold_starts),
    quantile_ms: Number(row.q_ms.at(index)),
  }));
}

/** What is of one series is named by its version and region; what is of a model, or of all, has neither. */
function isOfWholeModel({ kind }: AnomalyEvent): boolean {
  return ['throughput_drop', 'no_data', 'slo_burn', 'pipeline'].includes(kind);
}

function seriesOf(event: AnomalyEvent) {
  const { service, model, version, region, host, tenant } = event;
  const { request_type: requestType, cold_start: coldStart } = event;
  return { service, model, version, requestType, region, host, tenant, coldStart };
}

/** A range widened to whole steps. */
function rangeOf(fromMs: number, toMs: number, stepSeconds: number) {
  const stepMs = stepSeconds * 1000;
  return {
    fromSeconds: Math.floor(fromMs / stepMs) * stepSeconds,
    toSeconds: Math.ceil(toMs / stepMs) * stepSeconds,
  };
}
