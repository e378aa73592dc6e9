import type { ClickHouseClient } from '@clickhouse/client';
import { type AnomalyEvent, anomalyEventSchema } from '../../contract/anomaly-event.ts';
import { seriesOf } from '../../series/series-key.ts';
import type { Series } from '../../series/series-window.ts';
import { addedSettings } from '../client/insert-settings.ts';
import { readRows, rowsOf } from '../client/read-query.ts';
import { type EmittedEpisode, emittedIds } from './emitted-ids.ts';

export interface SlowRequest {
  readonly event_ms: number;
  readonly total_ms: number;
  readonly trace_id: string;
  readonly request_id: string;
  readonly host: string;
  readonly status: string;
  readonly stages_ms: Readonly<Record<string, number>>;
}

export interface AnomalyFilter {
  /** '' matches any. */
  readonly model: string;
  readonly state: 'open' | 'resolved' | '';
  readonly limit: number;
}

const slowestKept = 5;

/** Stores anomalies, their baselines and the detector's progress in ClickHouse. */
export class AnomalyStore {
  readonly #client: ClickHouseClient;

  constructor(client: ClickHouseClient) {
    this.#client = client;
  }

  /** Adds an event of the window with this start; adding the same revision again changes nothing. */
  async add(
    event: AnomalyEvent,
    windowStartMs: number = Date.parse(event.started_at),
  ): Promise<void> {
    await this.#insert('anomalies', {
      id: event.id,
      revision: event.revision,
      dedup_key: event.dedup_key,
      incident_id: event.incident_id ?? '',
      state: event.state,
      severity: event.severity,
      kind: event.kind,
      ...seriesOf(event),
      stage: event.stage,
      quantile: event.quantile,
      observed_ms: event.observed_ms,
      baseline_ms: event.baseline_ms,
      ratio: event.ratio,
      requests: event.requests,
      bottleneck: event.bottleneck,
      summary: event.summary,
      started_at: event.started_at,
      detected_at: event.detected_at,
      ended_at: event.ended_at,
      resolved_at: event.resolved_at,
      window_start: new Date(windowStartMs).toISOString(),
      body: JSON.stringify(event),
    });
    // Only anomalies of durations have a baseline.
    if (event.state !== 'opened' || event.rate !== undefined || event.kind === 'pipeline') return;
    await this.#insert('baselines', {
      anomaly_id: event.id,
      model: event.model,
      version: event.version,
      request_type: event.request_type,
      region: event.region,
      cold_start: event.cold_start,
      stage: event.evidence.measured_stage,
      quantile: event.quantile,
      baseline_ms: event.baseline_ms,
      dispersion: event.evidence.dispersion,
      windows: event.evidence.baseline_windows,
      baseline_from: event.evidence.baseline_from,
      baseline_to: event.evidence.baseline_to,
    });
  }

  /** Unresolved anomalies and their members, by the events of windows before that time. */
  open(beforeMs: number = Date.UTC(2200, 0)): Promise<AnomalyEvent[]> {
    return this.#events('open_anomalies', { beforeMs });
  }

  /** Returns an event as it was emitted; undefined if it was not. */
  async stored(id: string, revision: number): Promise<AnomalyEvent | undefined> {
    return (await this.#events('stored_event', { id, revision }))[0];
  }

  /** Returns which of these open anomalies were emitted, under their own ids or others. */
  async emitted(open: readonly AnomalyEvent[]): Promise<ReadonlySet<string>> {
    if (open.length === 0) return new Set();
    const fromMs = Math.min(...open.map(({ started_at }) => Date.parse(started_at)));
    const emitted = await readRows<EmittedEpisode>(this.#client, 'emitted_episodes', { fromMs });
    return emittedIds(open, emitted);
  }

  /** Start of the last window with an event; undefined without events. */
  async lastStoredMs(): Promise<number | undefined> {
    return this.#latestMs(
      `SELECT toUnixTimestamp64Milli(max(window_start)) AS ms, count() AS found FROM anomalies`,
    );
  }

  /**
   * Latest state of anomalies that began at `fromMs` or later: open ones first, the most severe before others,
   * then the newest. An incident counts as one.
   */
  async since(fromMs: number, filter: AnomalyFilter): Promise<AnomalyEvent[]> {
    return this.#events('anomalies', { ...filter, fromMs });
  }

  /**
   * The slowest requests of an anomaly's series in [fromMs, toMs), the slowest first: in the stage to blame, those that
   * failed after the others. Of a rate by their total, and of failures those that failed first.
   */
  async slowest(
    event: Series & Pick<AnomalyEvent, 'kind' | 'stage' | 'rate'>,
    fromMs: number,
    toMs: number,
  ): Promise<SlowRequest[]> {
    const rows = await readRows<SlowRequest & { event_ms: string }>(this.#client, 'exemplars', {
      model: event.model,
      version: event.version,
      requestType: event.request_type,
      region: event.region,
      attributes: event.attributes ?? '',
      coldStart: event.cold_start,
      kind: event.kind,
      stage: event.rate === undefined ? event.stage : '',
      fromSeconds: Math.floor(fromMs / 1000),
      toSeconds: Math.ceil(toMs / 1000),
      limit: slowestKept,
    });
    return rows.map((row) => ({ ...row, event_ms: Number(row.event_ms) }));
  }

  /** Start of the first window that is not evaluated; undefined before the first evaluation. */
  async evaluatedUntilMs(detector: string): Promise<number | undefined> {
    return this.#latestMs(
      `SELECT toUnixTimestamp64Milli(max(judged_until)) AS ms, count() AS found
       FROM detector_progress WHERE detector = {detector:String}`,
      { detector },
    );
  }

  async setEvaluatedUntilMs(detector: string, ms: number): Promise<void> {
    await this.#insert('detector_progress', {
      detector,
      judged_until: (ms / 1000).toFixed(3),
    });
  }

  #events(name: string, params: Readonly<Record<string, unknown>>): Promise<AnomalyEvent[]> {
    return readEvents(this.#client, name, params);
  }

  /** @param query returns the latest time as `ms`, and as `found` how many there are. */
  async #latestMs(query: string, query_params = {}): Promise<number | undefined> {
    const [row] = await rowsOf<{ ms: string; found: string }>(this.#client, query, query_params);
    return row === undefined || Number(row.found) === 0 ? undefined : Number(row.ms);
  }

  /** Inserts a row. The tables replace rows by key, so a repeated insert changes nothing that is read. */
  async #insert(table: string, row: object): Promise<void> {
    await this.#client.insert({
      table,
      values: [row],
      format: 'JSONEachRow',
      clickhouse_settings: { ...addedSettings(), date_time_input_format: 'best_effort' },
    });
  }
}

/** Reads the events of a query in sql/queries. */
export async function readEvents(
  client: ClickHouseClient,
  query: string,
  params: Readonly<Record<string, unknown>>,
): Promise<AnomalyEvent[]> {
  const rows = await readRows<{ body: string }>(client, query, params);
  return rows.map(({ body }) => anomalyEventSchema.parse(JSON.parse(body)));
}
