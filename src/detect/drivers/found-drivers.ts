import type { AnomalyEvent } from '../event/anomaly-event.ts';
import { type Driver, driversOf } from './drivers.ts';
import { type BandCounts, baselineSlowBand, slowBandOf, sumOfBands } from './slow-band.ts';
import { type FacetBands, type TrafficMix, trafficMix } from './traffic-mix.ts';

/** Which requests carry a tail. */
export interface FoundDrivers {
  readonly drivers: readonly Driver[];
  /** undefined where no facet of size is kept, or requests above the usual quantile are no more than usual. */
  readonly mix: TrafficMix | undefined;
}

/** Minutes since the Unix epoch, the last one excluded. */
export interface MinuteRange {
  readonly from: number;
  readonly to: number;
}

export const noDrivers: FoundDrivers = { drivers: [], mix: undefined };
const minuteMs = 60_000;

/** Of all requests of the model no more than these are called slow. */
const mostSlow = 0.05;

/**
 * What the slow requests of an anomaly have in common, and whether larger ones came. Slow is what is beyond the
 * quantile that its series usually has, and beyond what most requests of the model usually take.
 *
 * @param facets of its model and version, now and as is usual.
 * @param totals of its series: requests by the band of their total.
 */
export function foundDrivers(
  facets: readonly FacetBands[],
  totals: { readonly now: BandCounts; readonly baseline: BandCounts },
  quantile: number,
): FoundDrivers {
  const ofSeries =
    baselineSlowBand(totals.baseline, 1 - quantile) ?? slowBandOf(totals.now, 1 - quantile);
  if (ofSeries === undefined) return noDrivers;
  const ofModel = baselineSlowBand(baselineTotals(facets), mostSlow) ?? ofSeries;
  const slowBand = Math.max(ofSeries, ofModel);
  return {
    drivers: driversOf(facets.map((each) => countOf(each, slowBand))),
    mix: trafficMix(facets, slowBand),
  };
}

/** Usual requests of the model by band: those that have the facet that most of them have. */
function baselineTotals(facets: readonly FacetBands[]): BandCounts {
  let most: BandCounts = new Map();
  let mostRequests = 0;
  for (const facet of new Set(facets.map((each) => each.facet))) {
    const ofFacet = facets.filter((each) => each.facet === facet);
    const bands = sumOfBands(ofFacet.map(({ baseline }) => baseline));
    const requests = [...bands.values()].reduce((sum, amount) => sum + amount, 0);
    if (requests > mostRequests) [most, mostRequests] = [bands, requests];
  }
  return most;
}

/**
 * Whether drivers are looked for. Facets are counted by how long requests take, which says nothing of how many
 * there are or fail; and what is part of an anomaly that is told as a whole goes without.
 */
export function hasDrivers({ kind, incident_id }: AnomalyEvent): boolean {
  return kind === 'tail_shift' && incident_id === undefined;
}

/** Of each dimension in which others may lend their baseline to a series: the values of those whose baseline it is. */
export interface BaselineValues {
  readonly version: readonly string[];
  readonly region: readonly string[];
  readonly host: readonly string[];
}

/** Whose baseline an event is compared with: the series' own, or that of others where it is new. */
export function baselineValues(event: AnomalyEvent): BaselineValues {
  const others = event.evidence.baseline_of ?? [];
  const valuesOf = (name: keyof BaselineValues) => {
    const values = others.filter(({ dimension }) => dimension === name).map(({ value }) => value);
    return values.length > 0 ? values : [event[name]];
  };
  return { version: valuesOf('version'), region: valuesOf('region'), host: valuesOf('host') };
}

/** The windows that an event adds up. */
export function measuredRange({ started_at, evidence }: AnomalyEvent, windowMs: number) {
  const fromMs = Date.parse(started_at);
  return { fromMs, toMs: fromMs + evidence.windows * windowMs };
}

/** The minutes of a time range, and those of an event's baseline that it shares none with. */
export function driverMinutes(
  { evidence }: AnomalyEvent,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): { readonly now: MinuteRange; readonly baseline: MinuteRange } {
  const now = { from: Math.floor(fromMs / minuteMs), to: Math.ceil(toMs / minuteMs) };
  const baseline = {
    from: Math.floor(Date.parse(evidence.baseline_from) / minuteMs),
    to: Math.min(Math.ceil(Date.parse(evidence.baseline_to) / minuteMs), now.from),
  };
  return { now, baseline };
}

function countOf({ facet, value, now, baseline }: FacetBands, slowBand: number) {
  const all = (bands: ReadonlyMap<number, number>, from = Number.NEGATIVE_INFINITY) =>
    [...bands].reduce((sum, [band, amount]) => sum + (band >= from ? amount : 0), 0);
  return {
    facet,
    value,
    requests: all(now),
    slow: all(now, slowBand),
    baselineRequests: all(baseline),
    baselineSlow: all(baseline, slowBand),
  };
}
