import type { ClickHouseClient } from '@clickhouse/client';
import { type AnomalyEvent, anomalyEventSchema } from '../../detect/event/anomaly-event.ts';
import type { Series } from '../../series/series-window.ts';
import { readQuery } from '../read-query.ts';
import { emittedIds } from './emitted-ids.ts';

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

type EpisodeRow = Record<'id' | 'dedup_key' | 'resolved_ms', string>;

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
      service: event.service,
      model: event.model,
      version: event.version,
      request_type: event.request_type,
      region: event.region,
      host: event.host,
      tenant: event.tenant,
      cold_start: event.cold_start,
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
    const rows = await this.#rows<EpisodeRow>(readQuery('emitted_episodes'), { fromMs });
    return emittedIds(
      open,
      rows.map(({ id, dedup_key, resolved_ms }) => ({
        id,
        dedupKey: dedup_key,
        resolvedMs: Number(resolved_ms) === 0 ? undefined : Number(resolved_ms),
      })),
    );
  }

  /** Start of the last window with an event; undefined without events. */
  async lastStoredMs(): Promise<number | undefined> {
    const query = `SELECT toUnixTimestamp64Milli(max(window_start)) AS ms, count() AS found FROM anomalies`;
    const row = (await this.#rows<{ ms: string; found: string }>(query, {}))[0];
    return row === undefined || Number(row.found) === 0 ? undefined : Number(row.ms);
  }

  /**
   * Latest state of anomalies that began at `fromMs` or later, the newest first. An incident counts as one.
   */
  async since(fromMs: number, filter: AnomalyFilter): Promise<AnomalyEvent[]> {
    return this.#events('anomalies', { ...filter, fromMs });
  }

  /** A series' slowest requests in [fromMs, toMs), the slowest first. */
  async slowest(series: Series, fromMs: number, toMs: number): Promise<SlowRequest[]> {
    const result = await this.#client.query({
      query: readQuery('exemplars'),
      query_params: {
        model: series.model,
        version: series.version,
        requestType: series.request_type,
        region: series.region,
        coldStart: series.cold_start,
        fromSeconds: Math.floor(fromMs / 1000),
        toSeconds: Math.ceil(toMs / 1000),
        limit: slowestKept,
      },
      format: 'JSONEachRow',
    });
    const rows = await result.json<SlowRequest & { event_ms: string }>();
    return rows.map((row) => ({ ...row, event_ms: Number(row.event_ms) }));
  }

  /** Start of the first window that is not evaluated; undefined before the first evaluation. */
  async evaluatedUntilMs(detector: string): Promise<number | undefined> {
    const query = `SELECT toUnixTimestamp64Milli(max(judged_until)) AS ms, count() AS found
                   FROM detector_progress WHERE detector = {detector:String}`;
    const row = (await this.#rows<{ ms: string; found: string }>(query, { detector }))[0];
    return row === undefined || Number(row.found) === 0 ? undefined : Number(row.ms);
  }

  async setEvaluatedUntilMs(detector: string, ms: number): Promise<void> {
    await this.#insert('detector_progress', {
      detector,
      judged_until: (ms / 1000).toFixed(3),
    });
  }

  async #events(name: string, params: object): Promise<AnomalyEvent[]> {
    const rows = await this.#rows<{ body: string }>(readQuery(name), params);
    return rows.map((row) => anomalyEventSchema.parse(JSON.parse(row.body)));
  }

  async #rows<T>(query: string, params: object): Promise<T[]> {
    const result = await this.#client.query({
      query,
      query_params: { ...params },
      format: 'JSONEachRow',
    });
    return result.json<T>();
  }

  /**
   * Inserts without a token: a killed server may remember the token without the row. The tables replace rows
   * by key, so a repeated insert changes nothing.
   */
  async #insert(table: string, row: object): Promise<void> {
    await this.#client.insert({
      table,
      values: [row],
      format: 'JSONEachRow',
      clickhouse_settings: {
        async_insert: 0,
        wait_end_of_query: 1,
        date_time_input_format: 'best_effort',
        insert_deduplicate: 0,
      },
    });
  }
}
