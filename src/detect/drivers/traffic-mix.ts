/** Requests with one value of a facet, by band of their total: now, and as is usual. */
export interface FacetBands {
  readonly facet: string;
  readonly value: string;
  readonly now: ReadonlyMap<number, number>;
  readonly baseline: ReadonlyMap<number, number>;
}

/** How far a change of what is asked for explains that more requests are slow. Rates are 0 to 1. */
export interface TrafficMix {
  /** The facet whose values explain most. */
  readonly facet: string;
  /** By how much the part of slow requests has risen; `mix` and `slowdown` add up to it. */
  readonly excess: number;
  /** Of it, what comes of other values being asked for more often. */
  readonly mix: number;
  /** Of it, what comes of requests with the same value being slower. */
  readonly slowdown: number;
  /** `mix` as a part of `excess`, held within 0 and 1. */
  readonly share: number;
}

/** Sizes of what is asked for. Other facets say who served it, or how it fared. */
export const sizeFacets = ['batch_size', 'request_bytes', 'input_tokens'] as const;

/** With fewer usual requests a value's own rate says less than that of its neighbours. */
const fewRequests = 20;
const bandsPerOctave = 4;
/** Where less than half as many again as usual are slow, or hardly any, there is nothing to explain. */
const leastRise = 0.5;
const leastExcess = 0.005;

/**
 * Splits the rise of the part of slow requests after one facet of size (Kitagawa 1955; Oaxaca and Blinder call it
 * the same): for each value, (part now − part usually) × how many of it usually are slow is mix, the rest is slowdown.
 * Large requests that were never seen before take what sizes usually do with a doubling: their time is that of the
 * largest known ones, moved on as much as these are from those half as large.
 *
 * @param slowBand slow is what lies in this band or above.
 * @returns undefined where no facet of size is kept, or the part of slow requests has hardly risen.
 */
export function trafficMix(
  facets: readonly FacetBands[],
  slowBand: number,
): TrafficMix | undefined {
  let most: TrafficMix | undefined;
  for (const facet of sizeFacets) {
    const values = facets.filter((each) => each.facet === facet);
    const split = splitBy(facet, values, slowBand);
    if (split !== undefined && (most === undefined || split.mix > most.mix)) most = split;
  }
  return most;
}

interface Value {
  /** Power of two; NaN where the value is no size. */
  readonly octave: number;
  readonly now: Rate;
  readonly baseline: Rate;
  readonly bands: ReadonlyMap<number, number>;
}

interface Rate {
  readonly requests: number;
  readonly slow: number;
}

function splitBy(
  facet: string,
  facets: readonly FacetBands[],
  slowBand: number,
): TrafficMix | undefined {
  const values = facets.map(({ value, now, baseline }) => ({
    octave: octaveOf(value),
    now: rateOf(now, slowBand),
    baseline: rateOf(baseline, slowBand),
    bands: baseline,
  }));
  const now = sumOf(values.map((value) => value.now));
  const baseline = sumOf(values.map((value) => value.baseline));
  if (now.requests === 0 || baseline.requests === 0) return undefined;
  const baselineRate = baseline.slow / baseline.requests;
  const excess = now.slow / now.requests - baselineRate;
  if (!(excess > Math.max(leastExcess, leastRise * baselineRate))) return undefined;
  const law = sizeLaw(values);
  let mix = 0;
  let slowdown = 0;
  for (const value of values) {
    const [partNow, baselinePart] = [
      value.now.requests / now.requests,
      value.baseline.requests / baseline.requests,
    ];
    const expected = law(value, slowBand) ?? baselineRate;
    mix += (partNow - baselinePart) * expected;
    slowdown +=
      value.now.slow / now.requests -
      partNow * expected -
      (value.baseline.slow / baseline.requests - baselinePart * expected);
  }
  const share = Math.round(Math.min(1, Math.max(0, mix / excess)) * 1e6) / 1e6;
  return { facet, excess, mix, slowdown, share };
}

/** How many of a value's requests would usually be slow: as they were, or as the next smaller ones tell. */
function sizeLaw(values: readonly Value[]): (value: Value, slowBand: number) => number | undefined {
  const known = values
    .filter(({ octave, baseline }) => baseline.requests >= fewRequests && !Number.isNaN(octave))
    .sort((a, b) => a.octave - b.octave);
  const [half, largest] = known.slice(-2);
  // Bands that a request moves by when its size doubles: none where time does not hang on size.
  const stepBands =
    half === undefined || largest === undefined
      ? 0
      : (meanBand(largest.bands) - meanBand(half.bands)) / (largest.octave - half.octave);
  const perOctave = Math.min(bandsPerOctave, Math.max(0, stepBands));
  return (value, slowBand) => {
    const { octave, baseline } = value;
    if (baseline.requests >= fewRequests) return baseline.slow / baseline.requests;
    const next = known.findLast((each) => each.octave <= octave) ?? known[0];
    if (next === undefined || Number.isNaN(octave)) return undefined;
    const moved = Math.round(perOctave * Math.max(0, octave - next.octave));
    const { requests, slow } = rateOf(next.bands, slowBand - moved);
    return slow / requests;
  };
}

/** 3 for "8-15", 0 for "1", −1 for "0"; NaN for what is no size. */
function octaveOf(value: string): number {
  if (value === '0') return -1;
  return Math.log2(Number.parseFloat(value));
}

function rateOf(bands: ReadonlyMap<number, number>, slowBand: number): Rate {
  let [requests, slow] = [0, 0];
  for (const [band, amount] of bands) {
    requests += amount;
    if (band >= slowBand) slow += amount;
  }
  return { requests, slow };
}

function sumOf(rates: readonly Rate[]): Rate {
  let [requests, slow] = [0, 0];
  for (const rate of rates) {
    requests += rate.requests;
    slow += rate.slow;
  }
  return { requests, slow };
}

function meanBand(bands: ReadonlyMap<number, number>): number {
  let [requests, sum] = [0, 0];
  for (const [band, amount] of bands) {
    requests += amount;
    sum += band * amount;
  }
  return sum / requests;
}
