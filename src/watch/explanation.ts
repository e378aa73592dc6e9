import type { ClickHouseClient } from '@clickhouse/client';
import { storedQuantiles } from '../base/stored-quantiles.ts';
import { type AnomalyEvent, anomalyEventSchema } from '../detect/anomaly-event.ts';
import { type Driver, driversOf, slowBandOf } from '../detect/drivers.ts';
import { readQuery } from '../sink/read-query.ts';
import { windowSeconds } from '../sink/read-tails.ts';
import { AnomalyStore, type SlowRequest } from './anomaly-store.ts';

/** The tail at one time. */
export interface CoursePoint {
  readonly at_ms: number;
  /** For so long: what is counted is of all of it. */
  readonly step_seconds: number;
  readonly requests: number;
  /** Errors and timeouts among them. */
  readonly failed: number;
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
  const [course, drivers, members, slowest] = await Promise.all([
    readCourse(client, last, fromMs - contextMs, Math.min(nowMs, toMs + contextMs)),
    readDrivers(client, last, fromMs, toMs),
    readMembers(client, last),
    new AnomalyStore(client).slowest(last, fromMs, toMs),
  ]);
  return { events, course, drivers, members, slowest };
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
    q_ms: number[];
  }>(client, 'tail_course', {
    ...seriesOf(event),
    table: `latency_${resolution}`,
    stage: event.evidence.measured_stage,
    whole: isOfWholeModel(event),
    stepSeconds: steps * step,
    ...rangeOf(fromMs, toMs, steps * step),
  });
  const index = storedQuantiles.findIndex((q) => q >= event.quantile);
  return rows.map((row) => ({
    at_ms: Number(row.at_seconds) * 1000,
    step_seconds: steps * step,
    requests: Number(row.requests),
    failed: Number(row.failed),
    quantile_ms: Number(row.q_ms.at(index)),
  }));
}

/** Facets are kept by model and version, so other series of these are in the numbers as well. */
async function readDrivers(
  client: ClickHouseClient,
  event: AnomalyEvent,
  fromMs: number,
  toMs: number,
): Promise<Driver[]> {
  // Facets are counted by how long requests take, which says nothing of how many there are or fail.
  if (event.rate !== undefined) return [];
  const range = rangeOf(fromMs, toMs, 60);
  const [total] = await rowsOf<{ by_band: Record<string, number> }>(client, 'total_bands', {
    ...seriesOf(event),
    ...range,
  });
  const byBand = new Map(
    Object.entries(total?.by_band ?? {}).map(([band, n]) => [Number(band), n]),
  );
  const slowBand = slowBandOf(byBand, 1 - event.quantile);
  if (slowBand === undefined) return [];
  const { baseline_from, baseline_to } = event.evidence;
  const usual = rangeOf(Date.parse(baseline_from), Date.parse(baseline_to), 60);
  const rows = await rowsOf<{
    facet: string;
    value: string;
    requests: string;
    slow: number;
    usual_requests: string;
    usual_slow: number;
  }>(client, 'drivers', {
    model: event.model,
    version: event.version,
    slowBand,
    ...range,
    usualFromSeconds: usual.fromSeconds,
    usualToSeconds: usual.toSeconds,
  });
  return driversOf(
    rows.map((row) => ({
      facet: row.facet,
      value: row.value,
      requests: Number(row.requests),
      slow: Number(row.slow),
      usualRequests: Number(row.usual_requests),
      usualSlow: Number(row.usual_slow),
    })),
  );
}

/** What is of one series is named by its version and region; what is of a model has neither. */
function isOfWholeModel({ kind }: AnomalyEvent): boolean {
  return kind === 'throughput_drop' || kind === 'no_data' || kind === 'slo_burn';
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

async function rowsOf<T>(
  client: ClickHouseClient,
  query: string,
  parameters: Readonly<Record<string, unknown>>,
): Promise<T[]> {
  const answer = await client.query({
    query: readQuery(query),
    query_params: parameters,
    format: 'JSONEachRow',
  });
  return answer.json<T>();
}
