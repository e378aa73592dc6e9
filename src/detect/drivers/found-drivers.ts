import { dimensions, kindOfName, totalStage } from '../../base/dimensions.ts';
import { minuteMs } from '../../base/time.ts';
import { type AnomalyEvent, unaccounted } from '../../contract/anomaly-event.ts';
import { wholePercent } from '../../contract/format.ts';
import { dimensionValue, ownDimensionsOf, unversionedKey } from '../../series/series-key.ts';
import type { Series } from '../../series/series-window.ts';
import { type Counted, type Driver, driversOf, type Scope } from './drivers.ts';
import { type SizeGrowth, sizeGrowth, sizeOfSlowPart } from './size-growth.ts';
import {
  type BandCounts,
  baselineSlowBand,
  type FacetBands,
  slowBandOf,
  slowCountOf,
  sumOfBands,
  sumOfCounts,
} from './slow-band.ts';
import { type TrafficMix, trafficMix } from './traffic-mix.ts';

/** Drivers of a tail. */
export interface FoundDrivers {
  readonly drivers: readonly Driver[];
  /** undefined without a facet of size, or where neither slow requests nor large ones are more frequent. */
  readonly mix: TrafficMix | SizeGrowth | undefined;
}

/** Minutes since the Unix epoch, the last one excluded. */
export interface MinuteRange {
  readonly from: number;
  readonly to: number;
}

export const noDrivers: FoundDrivers = { drivers: [], mix: undefined };
/** Drivers that an event names. */
const driversNamed = 5;
/** Share from which the mix is the bottleneck, as for other classes. */
const mostShare = 0.5;
/** Largest share of a model's baseline requests that count as slow. */
const maxSlow = 0.05;

/** Requests of a series by the band of their total: now, and in the baseline. Its version is that of the event. */
export interface SeriesBands {
  readonly series: Series;
  readonly now: BandCounts;
  readonly baseline: BandCounts;
}

/**
 * Finds what the slow requests of an anomaly have in common beyond its scope, and whether they are larger. Slow
 * requests exceed the baseline's quantile of the series, and 95 % of the model's requests in the baseline.
 *
 * @param facets of its model and version, now and in the baseline.
 * @param bands of all series of these.
 */
export function foundDrivers(
  facets: readonly FacetBands[],
  bands: readonly SeriesBands[],
  event: AnomalyEvent,
): FoundDrivers {
  const own = bands.filter(({ series }) => unversionedKey(series) === unversionedKey(event));
  const now = sumOfBands(own.map((each) => each.now));
  const baseline = sumOfBands(baselineOf(event, bands).map((each) => each.baseline));
  const share = 1 - event.quantile;
  const ofSeries = baselineSlowBand(baseline, share) ?? slowBandOf(now, share);
  if (ofSeries === undefined) return noDrivers;
  const ofModel = baselineSlowBand(baselineTotals(facets), maxSlow) ?? ofSeries;
  const slowBand = Math.max(ofSeries, ofModel);
  const drivers = driversOf(facets, slowBand, scopeOf(event, bands, slowBand));
  // A time per token depends on no length: other lengths do not make it slower.
  const isMeasure = kindOfName(event.evidence.measured_stage) === 'measure';
  return { drivers, mix: isMeasure ? undefined : mixOf(facets, slowBand, event) };
}

/**
 * What explains most: sizes by the time of whole requests, or that of the part to blame by its own size. Bands are of
 * whole requests: of a part with a size of its own they say nothing, unless the total was measured. What comes before
 * the answer is no slower for a longer one.
 */
function mixOf(facets: readonly FacetBands[], slowBand: number, event: AnomalyEvent) {
  const size = sizeOfSlowPart(event);
  const ofPart = sizeGrowth(facets, event);
  if (size !== undefined && event.evidence.measured_stage !== totalStage) return ofPart;
  const isOfAnswer = size === 'output_tokens' || isOfNoPart(event);
  const whole = trafficMix(
    isOfAnswer ? facets : facets.filter(({ facet }) => facet !== 'output_tokens'),
    slowBand,
  );
  return ofPart !== undefined && ofPart.share > (whole?.share ?? 0) ? ofPart : whole;
}

function isOfNoPart({ blame, stage }: AnomalyEvent): boolean {
  return [totalStage, unaccounted].includes(blame[0]?.stage ?? stage);
}

/** Series that the event is compared with. */
function baselineOf(event: AnomalyEvent, bands: readonly SeriesBands[]): SeriesBands[] {
  const { region, host } = baselineValues(event);
  return bands.filter(({ series }) => {
    const own = { ...event, region: series.region, host: series.host };
    const isLender = region.includes(series.region) && host.includes(series.host);
    return isLender && unversionedKey(series) === unversionedKey(own);
  });
}

/** Requests by each value of each dimension, and those of the event's own series. */
function scopeOf(event: Series, bands: readonly SeriesBands[], slowBand: number): Scope {
  const slices = new Map<string, Counted[]>();
  const add = (key: string, counted: Counted) => {
    const parts = slices.get(key) ?? [];
    slices.set(key, parts);
    parts.push(counted);
  };
  const own = ownDimensionsOf(bands.map(({ series }) => series));
  const names = [...dimensions, ...own];
  const counts = bands.map(({ series, now, baseline }) => {
    const counted = { now: slowCountOf(now, slowBand), baseline: slowCountOf(baseline, slowBand) };
    if (unversionedKey(series) === unversionedKey(event)) add('', counted);
    for (const name of names) add(`${name}\n${dimensionValue(series, name)}`, counted);
    return counted;
  });
  return { all: sumOf(counts), slices: [...slices.values()].map(sumOf) };
}

function sumOf(parts: readonly Counted[]): Counted {
  return {
    now: sumOfCounts(parts.map(({ now }) => now)),
    baseline: sumOfCounts(parts.map(({ baseline }) => baseline)),
  };
}

/** Baseline requests of the model by band, from the facet that most of them have. */
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
 * Reports whether drivers are searched for. Facets count durations, which explain only tail shifts; members
 * of an incident have no separate drivers.
 */
export function hasDrivers({ kind, incident_id }: AnomalyEvent): boolean {
  return kind === 'tail_shift' && incident_id === undefined;
}

/** Values of the series whose baseline it is, by dimension. */
export type BaselineValues = Readonly<Record<'version' | 'region' | 'host', readonly string[]>>;

/** Values of the series that the event is compared with: itself, or the lenders of a new series. */
export function baselineValues(event: AnomalyEvent): BaselineValues {
  const others = event.evidence.baseline_of ?? [];
  const valuesOf = (name: keyof BaselineValues) => {
    const values = others.filter(({ dimension }) => dimension === name).map(({ value }) => value);
    return values.length > 0 ? values : [event[name]];
  };
  return { version: valuesOf('version'), region: valuesOf('region'), host: valuesOf('host') };
}

/** Time range of an event's tested windows: the last ones before it was measured, none from before its start. */
export function measuredRange(event: AnomalyEvent, windowMs: number) {
  const { started_at, measured_at, evidence } = event;
  const startedMs = Date.parse(started_at);
  const lengthMs = evidence.windows * windowMs;
  const toMs = measured_at === undefined ? startedMs + lengthMs : Date.parse(measured_at);
  return { fromMs: Math.min(Math.max(startedMs, toMs - lengthMs), toMs - windowMs), toMs };
}

/** Minutes of a time range, and those of an event's baseline before it. */
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

/**
 * Adds its drivers to an event. If more large requests explain at least half of it, the bottleneck is
 * `traffic_mix`, whatever the stages: requests of each size take as long as before. So it is not `critical`,
 * unless other models are affected.
 */
export function withDrivers(event: AnomalyEvent, { drivers, mix }: FoundDrivers): AnomalyEvent {
  const found =
    drivers.length === 0 ? event : { ...event, drivers: drivers.slice(0, driversNamed) };
  if (mix === undefined) return found;
  const shared = { ...found, mix_share: mix.share };
  if (mix.share < mostShare || event.cold_start) return shared;
  const bottleneck = 'traffic_mix' as const;
  const ofMix = {
    ...shared,
    bottleneck,
    ...(event.severity === 'critical' && !isOfModels(event) && { severity: 'warning' as const }),
    ...(event.worst && { worst: { ...event.worst, bottleneck } }),
  };
  if (event.state === 'resolved') return ofMix;
  const larger = mix.facet === 'output_tokens' ? 'more long answers' : 'more large requests';
  const part = wholePercent(mix.share);
  const summary = `${event.summary}; ${larger} (${sizeText(mix, drivers)}) explain ${part} of the rise in slow requests`;
  return { ...ofMix, summary };
}

/** True where an incident affects several models; the mix is that of one. */
function isOfModels({ scope }: AnomalyEvent): boolean {
  return (scope?.values ?? []).filter(({ dimension }) => dimension === 'model').length > 1;
}

/** "output_tokens 512 to 1023: 61 % of slow requests, 20 % of all", or "by output_tokens" of no one size. */
function sizeText({ facet }: { readonly facet: string }, drivers: readonly Driver[]): string {
  const driver = drivers.find((each) => each.facet === facet);
  if (driver === undefined) return `by ${facet}`;
  const [slow, all] = [driver.share_of_slow, driver.share_of_all].map(wholePercent);
  return `${facet} ${driver.value.replace('-', ' to ')}: ${slow} of slow requests, ${all} of all`;
}
