import type { Config } from '../../config/schema.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import type { StageTable } from '../../contract/stage-table.ts';
import { ofWorstSeries } from '../../contract/worst-series.ts';
import { AnomalyStore, type SlowRequest } from '../../sink/anomalies/anomaly-store.ts';
import { shownRange } from '../../sink/anomalies/explanation.ts';
import type { ClickHouseClient } from '../../sink/client/clickhouse.ts';
import { readSlowest } from '../requests.ts';
import { defaultSteps, retentionOf, timeRange } from '../time-range.ts';
import { requestsOf, slowestOf } from './incident-requests.ts';

interface Options {
  readonly nowMs: number;
  readonly retention: Config['clickhouse']['retention'];
  readonly limit: number;
  readonly stages: StageTable;
}

/** The slowest requests of an anomaly, as its page lists them: those that failed come last. */
export async function slowestRequests(
  client: ClickHouseClient,
  event: AnomalyEvent,
  { nowMs, retention, limit, stages }: Options,
): Promise<readonly SlowRequest[]> {
  const asked = slowestOf(event, nowMs);
  if (asked === undefined) {
    // Its page lists none: here are those of the series by their total, failed or not.
    const { fromMs, toMs } = shownRange(event, nowMs);
    return new AnomalyStore(client).slowest(ofWorstSeries(event), fromMs, toMs);
  }
  const { fromMs, toMs, stage } = asked;
  const range = timeRange({
    ...{ fromMs, toMs, nowMs, wishedSteps: defaultSteps },
    retention: retentionOf(retention),
  });
  const filters = requestsOf(event);
  const { rows } = await readSlowest(client, { filters, range, stage, limit, stages });
  return rows.slice(0, limit).map((row) => ({
    ...{ trace_id: row.trace_id, request_id: row.request_id, total_ms: row.total_ms },
    ...{ status: row.status, host: row.host, stages_ms: row.stages_ms },
    event_ms: Number(row.at_ms),
  }));
}
