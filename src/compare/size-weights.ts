import { octaveOf } from '../detect/drivers/size-growth.ts';

/** Requests of one size, by the band of their total. */
export interface SizePart {
  readonly facet: string;
  readonly value: string;
  readonly requests: number;
  readonly bands: ReadonlyMap<number, number>;
}

/** Requests of a size from which its neighbours learn. */
const leastRequests = 20;

interface Bucket extends SizePart {
  /** Natural logarithm of how much more frequent this size is on side A. */
  readonly logRatio: number;
  readonly meanBand: number;
  readonly variance: number;
}

/**
 * How much more frequent each band of a total would be if B had the sizes of A. Sizes are known by powers of
 * two. Within one, larger requests take longer, and are more frequent where lengths grow. So the weight goes on
 * from one size to the next by where the band lies: by regression of the size on the band, with sizes spread
 * evenly. Accuracy: test/compare/size-weights.test.ts.
 */
export function sizeWeights(
  sizesA: readonly SizePart[],
  sizesB: readonly SizePart[],
): (band: number) => number {
  const [allA, allB] = [requestsOf(sizesA), requestsOf(sizesB)];
  const shareOfA = (value: string) =>
    (sizesA.find((size) => size.value === value)?.requests ?? 0) / allA;
  const buckets = new Map<number, Bucket>();
  for (const size of sizesB) {
    if (size.requests === 0) continue;
    const ratio = (shareOfA(size.value) + 0.5 / allA) / ((size.requests + 0.5) / allB);
    const logRatio = Math.log(ratio);
    buckets.set(octaveOf(size.value), { ...size, logRatio, ...momentsOf(size) });
  }
  const now = new Map<number, number>();
  const wanted = new Map<number, number>();
  for (const [octave, bucket] of buckets) {
    const factorOf = withinBucket(bucket, buckets.get(octave - 1), buckets.get(octave + 1));
    let sum = 0;
    for (const [band, n] of bucket.bands) sum += n * factorOf(band);
    const amount = (shareOfA(bucket.value) * allB) / sum;
    for (const [band, n] of bucket.bands) {
      now.set(band, (now.get(band) ?? 0) + n);
      wanted.set(band, (wanted.get(band) ?? 0) + amount * n * factorOf(band));
    }
  }
  return (band) => {
    const n = now.get(band) ?? 0;
    return n === 0 ? 1 : (wanted.get(band) ?? 0) / n;
  };
}

/**
 * Largest error of p50, p95 and p99 by how many times as large B is as A. Beyond, it is not known.
 *
 * | B is as large as A      | error | why
 * |-------------------------|-------|------------------------------------------------------------
 * | once to twice           | 0.15  | as measured, with the chance of 8,000 requests a side
 * | up to three times       | 0.25  | few requests of B are as small as most of A
 * | down to half            | 0.25  | few requests of B are as large as the largest of A
 */
const errors = [
  { least: 1, most: 2, error: 0.15 },
  { least: 0.5, most: 3, error: 0.25 },
] as const;

/**
 * Largest relative error of quantiles of B at the sizes of A; undefined where they differ by more than was
 * measured. Held by test/compare/size-weights.test.ts.
 */
export function sizeWeightsError(
  sizesA: readonly SizePart[],
  sizesB: readonly SizePart[],
): number | undefined {
  const times = 2 ** (meanOctave(sizesB) - meanOctave(sizesA));
  // Octaves of 8,000 requests tell times to a tenth.
  const about = Math.round(times * 10) / 10;
  return errors.find(({ least, most }) => about >= least && about <= most)?.error;
}

function meanOctave(sizes: readonly SizePart[]): number {
  const known = sizes.filter(({ value }) => !Number.isNaN(octaveOf(value)));
  const sum = known.reduce((total, { value, requests }) => total + requests * octaveOf(value), 0);
  return sum / requestsOf(known);
}

/** Relative weight of the bands of one size: 1 at its mean. */
function withinBucket(
  { logRatio, meanBand, variance }: Bucket,
  smaller: Bucket | undefined,
  larger: Bucket | undefined,
): (band: number) => number {
  const known = (other: Bucket | undefined) =>
    other !== undefined && other.requests >= leastRequests ? other : undefined;
  const [below, above] = [known(smaller), known(larger)];
  const steps = [
    ...(below === undefined ? [] : [meanBand - below.meanBand]),
    ...(above === undefined ? [] : [above.meanBand - meanBand]),
  ];
  // Bands that a request moves by when its size doubles.
  const step = Math.max(0, steps.reduce((sum, each) => sum + each, 0) / Math.max(1, steps.length));
  // An even spread over a doubling has a variance of 1 / 12.
  const ofSize = step ** 2 / 12;
  const slope = step === 0 ? 0 : step / 12 / Math.max(variance, ofSize);
  const rise = above === undefined ? 0 : above.logRatio - logRatio;
  const fall = below === undefined ? 0 : logRatio - below.logRatio;
  return (band) => {
    const place = Math.max(-0.5, Math.min(0.5, slope * (band - meanBand)));
    const growth =
      place < 0 ? (below === undefined ? rise : fall) : above === undefined ? fall : rise;
    return Math.exp(growth * place);
  };
}

function momentsOf({ bands }: SizePart): Pick<Bucket, 'meanBand' | 'variance'> {
  let [n, sum, squares] = [0, 0, 0];
  for (const [band, count] of bands) {
    n += count;
    sum += count * band;
    squares += count * band ** 2;
  }
  const meanBand = sum / n;
  return { meanBand, variance: Math.max(0, squares / n - meanBand ** 2) };
}

function requestsOf(sizes: readonly SizePart[]): number {
  return sizes.reduce((sum, { requests }) => sum + requests, 0);
}
