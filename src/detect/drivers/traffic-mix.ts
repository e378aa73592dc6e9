import { mixFacets } from '../../base/facets.ts';
import { octaveOf } from './size-growth.ts';
import {
  type BandCounts,
  type FacetBands,
  type SlowCount,
  slowCountOf,
  sumOfCounts,
} from './slow-band.ts';

/** Part of a rise of slow requests that a change of the traffic explains. Rates are 0 to 1. */
export interface TrafficMix {
  /** The facet whose values explain most. */
  readonly facet: string;
  /** Rise of the share of slow requests; `mix` and `slowdown` add up to it. */
  readonly excess: number;
  /** Part that results from other values being more frequent. */
  readonly mix: number;
  /** Part that results from requests with the same value being slower. */
  readonly slowdown: number;
  /** `mix` as a part of `excess`, clamped to 0 and 1. */
  readonly share: number;
}

/** Limits, chosen by hand; test/detect/drivers/traffic-mix.test.ts holds them. */
const tuned = {
  /** Baseline requests from which a value's own rate is used, not that of smaller sizes. */
  minRequests: 20,
  bandsPerOctave: 4,
  /** Smallest rise that is split: relative to the baseline, and absolute. */
  minRise: 0.5,
  minExcess: 0.005,
} as const;

/**
 * Splits the rise of slow requests by one facet of size (Kitagawa 1955; the Oaxaca-Blinder decomposition).
 * For each value, (share now − baseline share) × its baseline slow rate is mix; the rest is slowdown. The
 * rate of larger sizes than the baseline has is extrapolated: from the largest known size, by as many bands
 * per doubling as lie between the two largest.
 *
 * @param slowBand lowest band of slow requests.
 * @returns undefined without a facet of size, or if the share of slow requests has hardly risen.
 */
export function trafficMix(
  facets: readonly FacetBands[],
  slowBand: number,
): TrafficMix | undefined {
  let best: TrafficMix | undefined;
  for (const facet of mixFacets) {
    const values = facets.filter((each) => each.facet === facet);
    const split = splitBy(facet, values, slowBand);
    if (split !== undefined && (best === undefined || split.mix > best.mix)) best = split;
  }
  return best;
}

interface Value {
  /** Power of two; NaN if the value is not a size. */
  readonly octave: number;
  readonly now: SlowCount;
  readonly baseline: SlowCount;
  readonly bands: BandCounts;
}

function splitBy(
  facet: string,
  facets: readonly FacetBands[],
  slowBand: number,
): TrafficMix | undefined {
  const values = facets.map(({ value, now, baseline }) => ({
    octave: octaveOf(value),
    now: slowCountOf(now, slowBand),
    baseline: slowCountOf(baseline, slowBand),
    bands: baseline,
  }));
  const now = sumOfCounts(values.map((value) => value.now));
  const baseline = sumOfCounts(values.map((value) => value.baseline));
  if (now.requests === 0 || baseline.requests === 0) return undefined;
  const baselineRate = baseline.slow / baseline.requests;
  const excess = now.slow / now.requests - baselineRate;
  if (!(excess > Math.max(tuned.minExcess, tuned.minRise * baselineRate))) return undefined;
  const law = sizeLaw(values);
  let mix = 0;
  let slowdown = 0;
  for (const value of values) {
    const shareNow = value.now.requests / now.requests;
    const baselineShare = value.baseline.requests / baseline.requests;
    const expected = law(value, slowBand) ?? baselineRate;
    mix += (shareNow - baselineShare) * expected;
    slowdown +=
      value.now.slow / now.requests -
      shareNow * expected -
      (value.baseline.slow / baseline.requests - baselineShare * expected);
  }
  const share = Math.round(Math.min(1, Math.max(0, mix / excess)) * 1e6) / 1e6;
  return { facet, excess, mix, slowdown, share };
}

/** Expected slow rate of a value: its own in the baseline, or extrapolated from the next smaller one. */
function sizeLaw(values: readonly Value[]): (value: Value, slowBand: number) => number | undefined {
  const isKnown = ({ octave, baseline }: Value) =>
    baseline.requests >= tuned.minRequests && !Number.isNaN(octave);
  const known = values.filter(isKnown).sort((a, b) => a.octave - b.octave);
  const [half, largest] = known.slice(-2);
  // Bands that a request moves by when its size doubles: 0 if its time does not depend on it.
  const stepBands =
    half === undefined || largest === undefined
      ? 0
      : (meanBand(largest.bands) - meanBand(half.bands)) / (largest.octave - half.octave);
  const perOctave = Math.min(tuned.bandsPerOctave, Math.max(0, stepBands));
  return (value, slowBand) => {
    const { octave, baseline } = value;
    if (baseline.requests >= tuned.minRequests) return baseline.slow / baseline.requests;
    const next = known.findLast((each) => each.octave <= octave) ?? known[0];
    if (next === undefined || Number.isNaN(octave)) return undefined;
    const moved = Math.round(perOctave * Math.max(0, octave - next.octave));
    const { requests, slow } = slowCountOf(next.bands, slowBand - moved);
    return slow / requests;
  };
}

function meanBand(bands: BandCounts): number {
  let [requests, sum] = [0, 0];
  for (const [band, amount] of bands) {
    requests += amount;
    sum += band * amount;
  }
  return sum / requests;
}
