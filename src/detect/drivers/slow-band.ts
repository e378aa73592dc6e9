/** Requests by band. */
export type BandCounts = ReadonlyMap<number, number>;

/** Requests with one value of a facet, by band of their total: now, and in the baseline. */
export interface FacetBands {
  readonly facet: string;
  readonly value: string;
  readonly now: BandCounts;
  readonly baseline: BandCounts;
}

/** Requests, and the slow ones among them. */
export interface SlowCount {
  readonly requests: number;
  readonly slow: number;
}

/** Bands are coarse: if the quantile's band holds this many times the share, slow starts above it. */
const maxShareFactor = 4;

/** The lowest band of the slowest `share` of requests; undefined without requests. */
export function slowBandOf(byBand: BandCounts, share: number): number | undefined {
  const bands = [...byBand.keys()].sort((a, b) => b - a);
  const all = [...byBand.values()].reduce((sum, n) => sum + n, 0);
  let above = 0;
  for (const band of bands) {
    above += byBand.get(band) ?? 0;
    if (above >= share * all) return band;
  }
  return undefined;
}

/** The same for baseline requests, without a band that holds far more than the share. */
export function baselineSlowBand(baseline: BandCounts, share: number): number | undefined {
  const band = slowBandOf(baseline, share);
  if (band === undefined) return undefined;
  const { requests, slow } = slowCountOf(baseline, band);
  return slow > maxShareFactor * share * requests ? band + 1 : band;
}

export function sumOfBands(parts: readonly BandCounts[]): Map<number, number> {
  const sums = new Map<number, number>();
  for (const part of parts) {
    for (const [band, amount] of part) sums.set(band, (sums.get(band) ?? 0) + amount);
  }
  return sums;
}

/** Requests of all bands, and of those from `slowBand` on. */
export function slowCountOf(bands: BandCounts, slowBand: number): SlowCount {
  let [requests, slow] = [0, 0];
  for (const [band, amount] of bands) {
    requests += amount;
    if (band >= slowBand) slow += amount;
  }
  return { requests, slow };
}

export function sumOfCounts(counts: readonly SlowCount[]): SlowCount {
  let [requests, slow] = [0, 0];
  for (const count of counts) {
    requests += count.requests;
    slow += count.slow;
  }
  return { requests, slow };
}
