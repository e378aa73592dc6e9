import type { ClickHouseClient } from '@clickhouse/client';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { ofWorstSeries } from '../../contract/worst-series.ts';
import {
  baselineValues,
  driverMinutes,
  type FoundDrivers,
  foundDrivers,
  hasDrivers,
  measuredRange,
  noDrivers,
  withDrivers,
} from '../../detect/drivers/found-drivers.ts';
import type { Series } from '../../series/series-window.ts';
import { readRows } from '../client/read-query.ts';

type Amounts = Readonly<Record<string, number>>;

/** Adds to an event what its slow requests have in common: those of the worst series. */
export async function explainedEvent(
  client: ClickHouseClient,
  event: AnomalyEvent,
  windowMs: number,
): Promise<AnomalyEvent> {
  if (!hasDrivers(event)) return event;
  const worst = ofWorstSeries(event);
  const { fromMs, toMs } = measuredRange(worst, windowMs);
  return withDrivers(event, await readDrivers(client, worst, fromMs, toMs));
}

/**
 * Reads which requests make up the tail in [fromMs, toMs), compared with the baseline. Facets are stored by
 * model and version, so other series of these are included.
 */
export async function readDrivers(
  client: ClickHouseClient,
  event: AnomalyEvent,
  fromMs: number,
  toMs: number,
): Promise<FoundDrivers> {
  if (event.kind !== 'tail_shift') return noDrivers;
  const { model, version } = event;
  const { now, baseline } = driverMinutes(event, { fromMs, toMs });
  const range = { fromSeconds: now.from * 60, toSeconds: now.to * 60 };
  const baselineRange = {
    baselineFromSeconds: baseline.from * 60,
    baselineToSeconds: baseline.to * 60,
  };
  const of = baselineValues(event);
  const baselineVersions = of.version;
  const [totals, rows] = await Promise.all([
    readRows<{ now_bands: Amounts; baseline_bands: Amounts }>(client, 'total_bands', {
      ...{ ...seriesParams(event), ...range, ...baselineRange },
      ...{ baselineVersions, baselineRegions: of.region, baselineHosts: of.host },
    }),
    readRows<{ facet: string; value: string; now_bands: Amounts; baseline_bands: Amounts }>(
      client,
      'facet_bands',
      { model, version, baselineVersions, ...range, ...baselineRange },
    ),
  ]);
  const facets = rows.map(({ facet, value, now_bands, baseline_bands }) => ({
    facet,
    value,
    now: bandsOf(now_bands),
    baseline: bandsOf(baseline_bands),
  }));
  const [total] = totals;
  const bands = { now: bandsOf(total?.now_bands), baseline: bandsOf(total?.baseline_bands) };
  return foundDrivers(facets, bands, event);
}

/** A series as parameters of queries. */
export function seriesParams(series: Series) {
  const { service, model, version, region, host, tenant } = series;
  const { request_type: requestType, cold_start: coldStart } = series;
  return { service, model, version, requestType, region, host, tenant, coldStart };
}

function bandsOf(amounts: Amounts = {}): Map<number, number> {
  return new Map(Object.entries(amounts).map(([band, n]) => [Number(band), Number(n)]));
}
