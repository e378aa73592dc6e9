// Adds centroids to buckets of durations, merges buckets, and counts requests above thresholds.
// AssemblyScript: `npm run generate:kernel` compiles it to WebAssembly, into
// src/baseline/durations/duration-kernel-wasm.ts. It works on the memory of src/memory/arena.ts. Centroids
// are floats: all means, then all weights. A bucket of duration-histogram.ts holds requests and their
// milliseconds, side by side.

/**
 * A bucket is a 32nd of an octave: the exponent and the top 5 bits of the mantissa. Bucket numbers of doubles
 * exceed those of singles by `SINGLE_BUCKETS`.
 */
const SINGLE_SHIFT = 18;
const SINGLE_BUCKETS = (1_023 - 127) << 5;
const bucketBytes: usize = 16;

/** Windows kept in the counts; src/detect/tail/tail-counts.ts defines their layout. */
const kept: usize = 31;
const ADDED: usize = kept * 8;
const SUMS: usize = ADDED + 8;

/**
 * Adds the centroids from index `from` on to `length` buckets, of which `low` is the first. Returns the index
 * of the first centroid outside these buckets, or `size`.
 */
export function add(
  centroids: usize,
  size: i32,
  from: i32,
  buckets: usize,
  low: i32,
  length: i32,
  leastMs: f64,
): i32 {
  const least = reinterpret<i32>(<f32>leastMs);
  const lowest = low - SINGLE_BUCKETS;
  // Means ascend, so that centroids outside the buckets are the first or the last ones.
  if (bucketOf(centroids, from, least, lowest) < 0) return from;
  let end = size;
  while (end > from && bucketOf(centroids, end - 1, least, lowest) >= length) end--;
  const weights = (<usize>size) << 2;
  let at = centroids + ((<usize>from) << 2);
  const last = centroids + ((<usize>end) << 2) - 4;
  for (; at < last; at += 8) {
    const bits = v128.load64_zero(at);
    const bucket = i32x4.shr_s(i32x4.max_s(bits, i32x4.splat(least)), SINGLE_SHIFT);
    const offsets = i32x4.shl(i32x4.sub(bucket, i32x4.splat(lowest)), 4);
    const requests = f64x2.promote_low_f32x4(v128.load64_zero(at + weights));
    const ms = f64x2.mul(requests, f64x2.promote_low_f32x4(bits));
    addToBucket(buckets + <usize>i32x4.extract_lane(offsets, 0), i64x2.shuffle(requests, ms, 0, 2));
    addToBucket(buckets + <usize>i32x4.extract_lane(offsets, 1), i64x2.shuffle(requests, ms, 1, 3));
  }
  if (at === last) {
    const requests = <f64>load<f32>(at + weights);
    const amounts = f64x2.replace_lane(f64x2.splat(requests), 1, requests * <f64>load<f32>(at));
    const bucket = <usize>bucketOf(at, 0, least, lowest);
    addToBucket(buckets + bucket * bucketBytes, amounts);
  }
  return end;
}

/** Bucket of the i-th mean, relative to `lowest`. */
function bucketOf(means: usize, i: i32, least: i32, lowest: i32): i32 {
  return (max(load<i32>(means + ((<usize>i) << 2)), least) >> SINGLE_SHIFT) - lowest;
}

function addToBucket(bucket: usize, amounts: v128): void {
  v128.store(bucket, f64x2.add(v128.load(bucket), amounts));
}

/** Adds `length` buckets to those at `to`. */
export function join(buckets: usize, length: i32, to: usize): void {
  const end = buckets + <usize>length * bucketBytes;
  for (let at = buckets; at < end; at += bucketBytes) {
    v128.store(to, f64x2.add(v128.load(to), v128.load(at)));
    to += bucketBytes;
  }
}

/** Writes the means and weights of the nonempty buckets, and returns their number. */
export function centroids(buckets: usize, length: i32, means: usize, weights: usize): i32 {
  let n: usize = 0;
  // Rounding may put a mean above the next one: `previous` keeps them ascending.
  let previous: f64 = 0;
  const end = buckets + <usize>length * bucketBytes;
  for (let at = buckets; at < end; at += bucketBytes) {
    const weight = load<f64>(at);
    if (weight <= 0) continue;
    previous = max(previous, load<f64>(at, 8) / weight);
    store<f64>(means + (n << 3), previous);
    store<f64>(weights + (n << 3), weight);
    n++;
  }
  return <i32>n;
}

/**
 * Adds a window to the cumulative counts. Each quantile has four: requests above its three thresholds, and
 * the expected exceedances.
 *
 * @param upTo scratch for cumulative weights: `size` integers, and three more.
 */
export function count(
  centroids: usize,
  size: i32,
  upTo: usize,
  counts: usize,
  quantiles: i32,
  requests: f64,
  startMs: f64,
): void {
  cumulate(centroids + ((<usize>size) << 2), size, upTo);
  const added = <usize>load<f64>(counts, ADDED);
  const slot = added % kept;
  const width: usize = 8 + ((<usize>quantiles) << 5);
  const before = counts + SUMS + (slot === 0 ? kept - 1 : slot - 1) * width;
  const at = counts + SUMS + slot * width;
  const thresholds = counts + SUMS + kept * width;
  store<f64>(at, load<f64>(before) + requests);
  for (let offset: usize = 0; offset < width - 8; offset += 32) {
    const threshold = thresholds + offset;
    const from = before + offset;
    const to = at + offset;
    const exceedances = requests * (1 - cdf(centroids, size, upTo, load<f64>(threshold)));
    const beyondEffect = requests * (1 - cdf(centroids, size, upTo, load<f64>(threshold, 16)));
    const beyondHalf = requests * (1 - cdf(centroids, size, upTo, load<f64>(threshold, 24)));
    store<f64>(to, load<f64>(from, 8) + exceedances, 8);
    store<f64>(to, load<f64>(from, 16) + requests * load<f64>(threshold, 8), 16);
    store<f64>(to, load<f64>(from, 24) + beyondEffect, 24);
    store<f64>(to, load<f64>(from, 32) + beyondHalf, 32);
  }
  store<f64>(counts + (slot << 3), startMs);
  store<f64>(counts, <f64>(added + 1), ADDED);
}

/** Writes cumulative sums of the weights, rounded to integers, four at a time. */
function cumulate(weights: usize, size: i32, to: usize): void {
  const bytes = (<usize>size) << 2;
  const zero = i32x4.splat(0);
  let before = zero;
  for (let i: usize = 0; i < bytes; i += 16) {
    const each = i32x4.trunc_sat_f32x4_s(f32x4.nearest(v128.load(weights + i)));
    const twos = i32x4.add(each, i32x4.shuffle(zero, each, 0, 4, 5, 6));
    const fours = i32x4.add(twos, i32x4.shuffle(zero, twos, 0, 1, 4, 5));
    const sums = i32x4.add(before, fours);
    v128.store(to + i, sums);
    before = i32x4.shuffle(sums, sums, 3, 3, 3, 3);
  }
}

/** Part of the weights up to x, as of `TDigest.cdf`. */
function cdf(means: usize, n: i32, upTo: usize, x: f64): f64 {
  if (n === 0 || !(x <= Infinity)) return NaN;
  // Binary search without branches, which the processor could not predict.
  let base = means;
  let length = n;
  while (length > 1) {
    const half = length >>> 1;
    const middle = base + ((<usize>half) << 2);
    base = <f64>load<f32>(middle - 4) <= x ? middle : base;
    length -= half;
  }
  if (!(<f64>load<f32>(base) <= x)) {
    if (base === means) return 0;
    base -= 4;
  }
  const bytes = (<usize>n) << 2;
  if (base === means + bytes - 4) return 1;
  const low = <f64>load<f32>(base);
  const high = <f64>load<f32>(base, 4);
  const weight = <f64>load<f32>(base + bytes);
  const next = <f64>load<f32>(base + bytes, 4);
  const sums = upTo + (base - means);
  const from = <f64>load<i32>(sums) - (weight <= 1 ? 0 : weight / 2);
  const to = <f64>load<i32>(sums, 4) - (next <= 1 ? next : next / 2);
  const all = <f64>load<i32>(upTo + bytes - 4);
  return (from + ((to - from) * (x - low)) / (high - low)) / all;
}
