import type { ClickHouseClient } from '@clickhouse/client';
import type { AnomalyEvent } from '../detect/anomaly-event.ts';
import { type Driver, driversOf, slowBandOf } from '../detect/drivers.ts';
import { type FacetBands, type TrafficMix, trafficMix } from '../detect/traffic-mix.ts';
import { rowsOf } from '../sink/rows-of.ts';

/** Which requests carry a tail. */
export interface FoundDrivers {
  readonly drivers: readonly Driver[];
  /** undefined where no facet of size is kept, or requests above the usual quantile are no more than usual. */
  readonly mix: TrafficMix | undefined;
}

type Amounts = Readonly<Record<string, number>>;

/**
 * What the slow requests of an anomaly have in common, and whether larger ones came, in the minutes of
 * [fromMs, toMs) against those of its baseline. Facets are kept by model and version, so other series of these are in the
 * numbers as well.
 */
export async function readDrivers(
  client: ClickHouseClient,
  event: AnomalyEvent,
  fromMs: number,
  toMs: number,
): Promise<FoundDrivers> {
  // Facets are counted by how long requests take, which says nothing of how many there are or fail.
  if (event.rate !== undefined) return { drivers: [], mix: undefined };
  const { service, model, version, region, host, tenant, quantile } = event;
  const { request_type: requestType, cold_start: coldStart } = event;
  const series = { service, model, version, requestType, region, host, tenant, coldStart };
  const range = minutesOf(fromMs, toMs);
  // What shares a minute with the anomaly is not usual.
  const usual = minutesOf(
    Date.parse(event.evidence.baseline_from),
    Math.min(Date.parse(event.evidence.baseline_to), fromMs),
  );
  const usualToSeconds = Math.min(usual.toSeconds, range.fromSeconds);
  const [totals, rows] = await Promise.all([
    rowsOf<{ by_band: Amounts }>(client, 'total_bands', { ...series, ...range }),
    rowsOf<{ facet: string; value: string; now_bands: Amounts; usual_bands: Amounts }>(
      client,
      'facet_bands',
      { model, version, ...range, usualFromSeconds: usual.fromSeconds, usualToSeconds },
    ),
  ]);
  const facets = rows.map(({ facet, value, now_bands, usual_bands }) => ({
    facet,
    value,
    now: bandsOf(now_bands),
    usual: bandsOf(usual_bands),
  }));
  const slowBand = slowBandOf(bandsOf(totals[0]?.by_band ?? {}), 1 - quantile);
  return {
    drivers: slowBand === undefined ? [] : driversOf(facets.map((each) => countOf(each, slowBand))),
    mix: trafficMix(facets, quantile),
  };
}

function countOf({ facet, value, now, usual }: FacetBands, slowBand: number) {
  const all = (bands: ReadonlyMap<number, number>, from = Number.NEGATIVE_INFINITY) =>
    [...bands].reduce((sum, [band, amount]) => sum + (band >= from ? amount : 0), 0);
  return {
    facet,
    value,
    requests: all(now),
    slow: all(now, slowBand),
    usualRequests: all(usual),
    usualSlow: all(usual, slowBand),
  };
}

function bandsOf(amounts: Amounts): Map<number, number> {
  return new Map(Object.entries(amounts).map(([band, n]) => [Number(band), Number(n)]));
}

/** A range widened to whole minutes. */
function minutesOf(fromMs: number, toMs: number) {
  return {
    fromSeconds: Math.floor(fromMs / 60_000) * 60,
    toSeconds: Math.ceil(toMs / 60_000) * 60,
  };
}
