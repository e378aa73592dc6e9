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
import { attributesField } from '../../series/series-key.ts';
import type { Series } from '../../series/series-window.ts';
import { readRows } from '../client/read-query.ts';

type Amounts = Readonly<Record<string, number>>;

interface Bands {
  readonly now_bands: Amounts;
  readonly baseline_bands: Amounts;
}

/** Adds to an event what its slow requests have in common: those of the most affected series. */
export async function explainedEvent(
  client: ClickHouseClient,
  event: AnomalyEvent,
  windowMs: number,
): Promise<AnomalyEvent> {
  if (!hasDrivers(event)) return event;
  return withDrivers(event, await readDrivers(client, ofWorstSeries(event), windowMs));
}

/**
 * Reads which requests make up the tail in the measured windows, compared with the baseline. Facets are
 * stored by model and version, so other series of these are included; their bands tell what a dimension
 * explains.
 */
export async function readDrivers(
  client: ClickHouseClient,
  event: AnomalyEvent,
  windowMs: number,
): Promise<FoundDrivers> {
  if (event.kind !== 'tail_shift') return noDrivers;
  const { model, version } = event;
  const { now, baseline } = driverMinutes(event, measuredRange(event, windowMs));
  const range = { fromSeconds: now.from * 60, toSeconds: now.to * 60 };
  const baselineRange = {
    baselineFromSeconds: baseline.from * 60,
    baselineToSeconds: baseline.to * 60,
  };
  const baselineVersions = baselineValues(event).version;
  const parameters = { model, version, baselineVersions, ...range, ...baselineRange };
  const [ofSeries, ofFacets] = await Promise.all([
    readRows<Omit<Series, 'model' | 'version'> & Bands>(client, 'series_bands', parameters),
    readRows<{ facet: string; value: string } & Bands>(client, 'facet_bands', parameters),
  ]);
  const facets = ofFacets.map(({ facet, value, ...bands }) => ({
    facet,
    value,
    ...sidesOf(bands),
  }));
  const bands = ofSeries.map(({ now_bands, baseline_bands, attributes, ...series }) => ({
    series: { ...series, model, version, ...attributesField(attributes) },
    ...sidesOf({ now_bands, baseline_bands }),
  }));
  return foundDrivers(facets, bands, event);
}

/** A series as parameters of queries. */
export function seriesParams(series: Series) {
  const { service, model, version, region, host, tenant, attributes = '' } = series;
  const { request_type: requestType, cold_start: coldStart } = series;
  return { service, model, version, requestType, region, host, tenant, coldStart, attributes };
}

function sidesOf({ now_bands, baseline_bands }: Bands) {
  return { now: bandsOf(now_bands), baseline: bandsOf(baseline_bands) };
}

function bandsOf(amounts: Amounts): Map<number, number> {
  return new Map(Object.entries(amounts).map(([band, n]) => [Number(band), Number(n)]));
}
