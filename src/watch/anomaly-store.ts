import type { ClickHouseClient } from '@clickhouse/client';
import type { Series } from '../baseline/series-window.ts';
import { type AnomalyEvent, anomalyEventSchema } from '../detect/anomaly-event.ts';
import { readQuery } from '../sink/read-query.ts';

/** A slow request of a series. */
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
  /** '' for any. */
  readonly model: string;
  readonly state: 'open' | 'resolved' | '';
  readonly limit: number;
}

const slowestKept = 5;

/** Anomalies, their baselines and the detector's progress, in ClickHouse. */
export class AnomalyStore {
  readonly #client: ClickHouseClient;

  constructor(client: ClickHouseClient) {
    this.#client = client;
  }

  /** Adds an event; adding the same revision again changes nothing. */
  async add(event: AnomalyEvent): Promise<void> {
    await this.#insert('anomalies', {
      id: event.id,
      revision: event.revision,
      dedup_key: event.dedup_key,
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
      body: JSON.stringify(event),
    });
    // What is no duration was not compared with one.
    if (event.state !== 'opened' || event.rate !== undefined) return;
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

  /** Anomalies that are not resolved, as their last events say. */
  async open(): Promise<AnomalyEvent[]> {
    const result = await this.#client.query({
      query: readQuery('open_anomalies'),
      format: 'JSONEachRow',
    });
    const rows = await result.json<{ body: string }>();
    return rows.map((row) => anomalyEventSchema.parse(JSON.parse(row.body)));
  }

  /** Anomalies as they stand, of those that began at `fromMs` or later, the newest first. */
  async since(fromMs: number, filter: AnomalyFilter): Promise<AnomalyEvent[]> {
    const result = await this.#client.query({
      query: readQuery('anomalies'),
      query_params: { ...filter, fromMs },
      format: 'JSONEachRow',
    });
    const rows = await result.json<{ body: string }>();
    return rows.map((row) => anomalyEventSchema.parse(JSON.parse(row.body)));
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

  /** Start of the first window that has not been judged; undefined where none ever was. */
  async judgedUntilMs(detector: string): Promise<number | undefined> {
    const result = await this.#client.query({
      query: `SELECT toUnixTimestamp64Milli(max(judged_until)) AS ms, count() AS found
              FROM detector_progress WHERE detector = {detector:String}`,
      query_params: { detector },
      format: 'JSONEachRow',
    });
    const row = (await result.json<{ ms: string; found: string }>())[0];
    return row === undefined || Number(row.found) === 0 ? undefined : Number(row.ms);
  }

  async setJudgedUntilMs(detector: string, ms: number): Promise<void> {
    await this.#insert('detector_progress', {
      detector,
      judged_until: (ms / 1000).toFixed(3),
    });
  }

  /**
   * By no token, which a server that is killed may remember without the row: the tables replace a row
   * by its key, so one that comes again changes nothing.
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
