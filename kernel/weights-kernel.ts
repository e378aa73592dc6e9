// Computes the weight of each duration for each fault, and a window's sum of weights: several faults at a
// time. AssemblyScript: `npm run generate:kernel` compiles it to WebAssembly, into
// src/detect/tail/evidence/weights-kernel-wasm.ts. It works on the memory of src/memory/arena.ts. Each
// fault's sums run in the order of the bins: they equal those of a loop over one fault to the last bit.

/** Offsets and sizes, defined by src/detect/tail/evidence/evidence-layout.ts. */
const regions: usize = 3;
const FAULTS: usize = 128;

/** Fields of `weightsLayout`. */
const LOW: usize = 0;
const BINS: usize = 4;
const TABLE: usize = 8;
const FIRST_OF: usize = 16;
const IN_REGION: usize = 32;
const MEANS: usize = 64;
const VARIANCES: usize = MEANS + FAULTS;
const VARIANCES_WITHIN: usize = VARIANCES + FAULTS;
const REGION_WEIGHTS: usize = VARIANCES_WITHIN + FAULTS;
const REGION_MEANS: usize = REGION_WEIGHTS + regions * FAULTS;
const REGION_VARIANCES: usize = REGION_MEANS + regions * FAULTS;

/** Fields of `scoresLayout`. */
const SCORES_SUMS: usize = 0;
const SCORES_EXCESS: usize = FAULTS;
const SCORES_VARIANCES: usize = 2 * FAULTS;

/** Fields of the fault templates: see `templatesOf` in src/detect/tail/evidence/weights-kernel.ts. */
const SHARE: usize = 0;
const LEAST_RATIO: usize = FAULTS;
const SHIFT: usize = 2 * FAULTS;

/** Constants, in the order of the same file. */
const LEAST_MS: usize = 0;
const MOST_RATIO: usize = 8;
const MOST_EVIDENCE: usize = 16;
const UNIT: usize = 24;

/**
 * A bin is an eighth of an octave: the exponent and the top 3 bits of the mantissa. Bin numbers of doubles
 * exceed those of singles by `SINGLE_BINS`.
 */
const SINGLE_SHIFT = 20;
const SINGLE_BINS = (1_023 - 127) << 3;
/** A row of the table holds the weights of a bin: 16 bits for each fault, in units. */
const ROW_SHIFT = 5;
const MOST_OF_16_BITS = 32_767;

/** Sums over the bins of a region. The first three, for each fault, weight the bins by the density. */
const SUM_RATIOS: usize = 0;
const SUM_WEIGHTS: usize = FAULTS;
const SUM_SQUARES: usize = 2 * FAULTS;
/** Sum of weights by the observed part of each bin, for each fault. */
const SUM_OBSERVED: usize = 3 * FAULTS;
const SUM_DENSITY: usize = 4 * FAULTS;
const SUM_PARTS: usize = SUM_DENSITY + 8;
const REGION_SUMS: usize = SUM_PARTS + 8;

/** Bits of singles. */
const ONE = 0x3f800000;
const ROOT_OF_HALF = 0x3f3504f3;

let constants: usize = 0;
let templates: usize = 0;
let sums: usize = 0;

/** Address and bytes of the bins of the window that was weighed last. */
let bins: usize = 0;
let binBytes: usize = 0;

/** `Math.log` of the host, called rarely: twice for each region and pair of faults. */
declare function log(x: f64): f64;

/** Sets the addresses of the constants, templates and scratch sums, for all later calls. */
export function configure(constantsAt: usize, templatesAt: usize, sumsAt: usize): void {
  constants = constantsAt;
  templates = templatesAt;
  sums = sumsAt;
}

/**
 * Scores a window: sums its requests' weights for each fault. Centroids are floats: all means, then all
 * weights, which are whole. Sums are of whole units, so that they are exact.
 */
export function weigh(
  centroids: usize,
  size: i32,
  weights: usize,
  scores: usize,
  scratch: usize,
): void {
  const bytes = (<usize>size) << 2;
  locateRows(centroids, bytes, weights, scratch);
  bins = scratch + 2 * bytes + 32;
  binBytes = mergeBins(scratch, bytes, bins);
  const requests = load<i32>(bins + binBytes, 4);
  const table: usize = load<u32>(weights, TABLE);
  if (requests <= MOST_OF_16_BITS) addFew(table, scores);
  else addMany(table, scores);
  const all = f64x2.splat(<f64>requests);
  for (let t: usize = 0; t < FAULTS; t += 16) {
    const expected = f64x2.mul(all, v128.load(weights + t, MEANS));
    v128.store(scores + t, f64x2.sub(v128.load(scores + t, SCORES_SUMS), expected), SCORES_EXCESS);
    const variance = f64x2.mul(all, v128.load(weights + t, VARIANCES));
    v128.store(scores + t, variance, SCORES_VARIANCES);
  }
}

/** Writes each centroid's table row to the scratch, and all requests behind the rows: four at a time. */
function locateRows(means: usize, bytes: usize, weights: usize, scratch: usize): void {
  const low = i32x4.splat(load<i32>(weights, LOW) - SINGLE_BINS);
  const top = i32x4.splat(load<i32>(weights, BINS) - 1);
  const least = i32x4.splat(reinterpret<i32>(<f32>load<f64>(constants, LEAST_MS)));
  const requests = scratch + bytes + 16;
  for (let i: usize = 0; i < bytes; i += 16) {
    const bits = i32x4.max_s(v128.load(means + i), least);
    const bin = i32x4.sub(i32x4.shr_s(bits, SINGLE_SHIFT), low);
    const within = i32x4.min_s(i32x4.max_s(bin, i32x4.splat(0)), top);
    v128.store(scratch + i, i32x4.shl(within, ROW_SHIFT));
    const whole = f32x4.nearest(v128.load(means + bytes + i));
    v128.store(requests + i, i32x4.trunc_sat_f32x4_s(whole));
  }
  // A different row behind the last one ends its bin.
  store<i32>(scratch + bytes, -1);
}

/** Merges the adjacent centroids of each bin: writes its row and cumulative requests. Returns the bytes. */
function mergeBins(rows: usize, bytes: usize, to: usize): usize {
  const begin = to;
  const requests = rows + bytes + 16;
  let upTo = 0;
  let row = load<i32>(rows);
  for (let i: usize = 0; i < bytes; i += 4) {
    upTo += load<i32>(requests + i);
    store<i32>(to, row);
    store<i32>(to, upTo, 4);
    const next = load<i32>(rows + i, 4);
    // No branch: the processor could not predict which centroids share a bin.
    to += (<usize>(next !== row)) << 3;
    row = next;
  }
  // An empty bin follows, as `addFew` reads two at a time.
  store<i32>(to, 0);
  store<i32>(to, upTo, 4);
  return to - begin;
}

/** Sums the weights of at most 32,767 requests, which fit 16 bits: two bins and four faults at a time. */
function addFew(table: usize, scores: usize): void {
  let a = i32x4.splat(0);
  let b = a;
  let c = a;
  let d = a;
  let before = 0;
  for (let at = bins; at < bins + binBytes; at += 16) {
    const row = table + <usize>load<u32>(at);
    const next = table + <usize>load<u32>(at, 8);
    const upTo = load<i32>(at, 4);
    const upToNext = load<i32>(at, 12);
    const requests = i32x4.splat((upTo - before) | ((upToNext - upTo) << 16));
    before = upToNext;
    const first = v128.load(row);
    const firstNext = v128.load(next);
    const second = v128.load(row, 16);
    const secondNext = v128.load(next, 16);
    const ofA = i16x8.shuffle(first, firstNext, 0, 8, 1, 9, 2, 10, 3, 11);
    const ofB = i16x8.shuffle(first, firstNext, 4, 12, 5, 13, 6, 14, 7, 15);
    const ofC = i16x8.shuffle(second, secondNext, 0, 8, 1, 9, 2, 10, 3, 11);
    const ofD = i16x8.shuffle(second, secondNext, 4, 12, 5, 13, 6, 14, 7, 15);
    a = i32x4.add(a, i32x4.dot_i16x8_s(ofA, requests));
    b = i32x4.add(b, i32x4.dot_i16x8_s(ofB, requests));
    c = i32x4.add(c, i32x4.dot_i16x8_s(ofC, requests));
    d = i32x4.add(d, i32x4.dot_i16x8_s(ofD, requests));
  }
  storeSums(scores, a);
  storeSums(scores + 32, b);
  storeSums(scores + 64, c);
  storeSums(scores + 96, d);
}

/** Converts four sums from units to nats, and stores them. */
function storeSums(to: usize, units: v128): void {
  const unit = v128.load64_splat(constants, UNIT);
  v128.store(to, f64x2.mul(unit, f64x2.convert_low_i32x4_s(units)), SCORES_SUMS);
  v128.store(to, f64x2.mul(unit, f64x2.convert_low_i32x4_s(upper(units))), SCORES_SUMS + 16);
}

/** Sums the weights of any number of requests: one bin and two faults at a time. */
function addMany(table: usize, scores: usize): void {
  const unit = v128.load64_splat(constants, UNIT);
  for (let t: usize = 0; t < FAULTS; t += 16) {
    const column = table + (t >> 2);
    let sum = f64x2.splat(0);
    let before = 0;
    for (let at = bins; at < bins + binBytes; at += 8) {
      const units = i32x4.extend_low_i16x8_s(v128.load32_zero(column + <usize>load<u32>(at)));
      const upTo = load<i32>(at, 4);
      const requests = f64x2.splat(<f64>(upTo - before));
      before = upTo;
      sum = f64x2.add(sum, f64x2.mul(requests, f64x2.convert_low_i32x4_s(units)));
    }
    v128.store(scores + t, f64x2.mul(unit, sum), SCORES_SUMS);
  }
}

/**
 * Computes each bin's weight for each fault, and the moments of a baseline request's weight: in each region,
 * and in all. Densities (the baseline's, and that under the last fault) and observed parts are singles; sums
 * are doubles.
 */
export function weighBins(weights: usize, density: usize, parts: usize, ofLast: usize): void {
  const table: usize = load<u32>(weights, TABLE);
  for (let region: usize = 0; region < regions; region++) {
    const first = <usize>load<i32>(weights + (region << 2), FIRST_OF);
    const end = <usize>load<i32>(weights + (region << 2), FIRST_OF + 4);
    const to = sums + region * REGION_SUMS;
    let densitySum: f64 = 0;
    let partSum: f64 = 0;
    for (let bin = first; bin < end; bin++) {
      densitySum += <f64>load<f32>(density + (bin << 2));
      partSum += <f64>load<f32>(parts + (bin << 2));
    }
    store<f64>(to, densitySum, SUM_DENSITY);
    store<f64>(to, partSum, SUM_PARTS);
    for (let t: usize = 0; t < FAULTS; t += 32) {
      weighRegion(t, first, end, density, parts, ofLast, table + (t >> 2), to + t);
    }
  }
  for (let t: usize = 0; t < FAULTS; t += 16) storeMoments(weights + t, sums + t);
}

/** Computes the weights of a region's bins for four faults, and their sums. */
function weighRegion(
  t: usize,
  from: usize,
  end: usize,
  density: usize,
  parts: usize,
  ofLast: usize,
  column: usize,
  to: usize,
): void {
  const mostRatio = f32x4.splat(<f32>load<f64>(constants, MOST_RATIO));
  const mostEvidence = f32x4.splat(<f32>load<f64>(constants, MOST_EVIDENCE));
  const unit = f32x4.splat(<f32>load<f64>(constants, UNIT));
  const perNat = f32x4.div(f32x4.splat(1), unit);
  const share = singles(templates + t + SHARE);
  const rest = f32x4.sub(f32x4.splat(1), share);
  const leastRatio = singles(templates + t + LEAST_RATIO);
  const slowedA = slowedDensity(t, density, ofLast);
  const slowedB = slowedDensity(t + 8, density, ofLast);
  const slowedC = slowedDensity(t + 16, density, ofLast);
  const slowedD = slowedDensity(t + 24, density, ofLast);
  const zero = f64x2.splat(0);
  let ratios = zero;
  let ratiosNext = zero;
  let sum = zero;
  let sumNext = zero;
  let squares = zero;
  let squaresNext = zero;
  let observed = zero;
  let observedNext = zero;
  for (let bin = from; bin < end; bin++) {
    const at = bin << 2;
    let slowed = v128.load32_splat(slowedA + at);
    slowed = v128.load32_lane(slowedB + at, slowed, 1);
    slowed = v128.load32_lane(slowedC + at, slowed, 2);
    slowed = v128.load32_lane(slowedD + at, slowed, 3);
    const share4 = f32x4.div(f32x4.mul(share, slowed), v128.load32_splat(density + at));
    const ratio = f32x4.pmin(f32x4.pmax(f32x4.add(rest, share4), leastRatio), mostRatio);
    const units = f32x4.nearest(f32x4.mul(f32x4.pmin(logsOf(ratio), mostEvidence), perNat));
    const whole = i32x4.trunc_sat_f32x4_s(units);
    v128.store64_lane(column + (bin << ROW_SHIFT), i16x8.narrow_i32x4_s(whole, whole), 0);
    const weight = f32x4.mul(units, unit);
    const baseline = f64x2.splat(<f64>load<f32>(density + at));
    const part = f64x2.splat(<f64>load<f32>(parts + at));
    const two = f64x2.promote_low_f32x4(weight);
    const weighed = f64x2.mul(baseline, two);
    ratios = f64x2.add(ratios, f64x2.mul(baseline, f64x2.promote_low_f32x4(ratio)));
    sum = f64x2.add(sum, weighed);
    squares = f64x2.add(squares, f64x2.mul(weighed, two));
    observed = f64x2.add(observed, f64x2.mul(part, two));
    const next = f64x2.promote_low_f32x4(upper(weight));
    const weighedNext = f64x2.mul(baseline, next);
    ratiosNext = f64x2.add(ratiosNext, f64x2.mul(baseline, f64x2.promote_low_f32x4(upper(ratio))));
    sumNext = f64x2.add(sumNext, weighedNext);
    squaresNext = f64x2.add(squaresNext, f64x2.mul(weighedNext, next));
    observedNext = f64x2.add(observedNext, f64x2.mul(part, next));
  }
  v128.store(to, ratios, SUM_RATIOS);
  v128.store(to, ratiosNext, SUM_RATIOS + 16);
  v128.store(to, sum, SUM_WEIGHTS);
  v128.store(to, sumNext, SUM_WEIGHTS + 16);
  v128.store(to, squares, SUM_SQUARES);
  v128.store(to, squaresNext, SUM_SQUARES + 16);
  v128.store(to, observed, SUM_OBSERVED);
  v128.store(to, observedNext, SUM_OBSERVED + 16);
}

/**
 * Stores the mean and variance of a baseline request's weight for two faults. The variance is that of the
 * density, which is smoother and wider than the observed requests: it is never 0. The mean is that of the
 * observed requests: by the density, a stage of constant latency would seem non-stationary.
 */
function storeMoments(weights: usize, ofFaults: usize): void {
  const zero = f64x2.splat(0);
  let observedMean = zero;
  let mean = zero;
  let square = zero;
  let varianceWithin = zero;
  for (let region: usize = 0; region < regions; region++) {
    const from = ofFaults + region * REGION_SUMS;
    const ofRegion = sums + region * REGION_SUMS;
    const densitySum = load<f64>(ofRegion, SUM_DENSITY);
    const partSum = load<f64>(ofRegion, SUM_PARTS);
    const all = f64x2.splat(densitySum);
    const sum = v128.load(from, SUM_WEIGHTS);
    const squares = v128.load(from, SUM_SQUARES);
    const observedSum = v128.load(from, SUM_OBSERVED);
    let weight = zero;
    let variance = zero;
    if (densitySum !== 0) {
      const ratio = f64x2.div(v128.load(from, SUM_RATIOS), all);
      const first = f64x2.splat(log(f64x2.extract_lane(ratio, 0)));
      weight = f64x2.replace_lane(first, 1, log(f64x2.extract_lane(ratio, 1)));
      const regionMean = f64x2.div(sum, all);
      variance = f64x2.sub(f64x2.div(squares, all), f64x2.mul(regionMean, regionMean));
    }
    const beyond = f64x2.sub(f64x2.div(observedSum, f64x2.splat(partSum)), weight);
    const at = weights + region * FAULTS;
    v128.store(at, weight, REGION_WEIGHTS);
    v128.store(at, partSum === 0 ? zero : beyond, REGION_MEANS);
    v128.store(at, variance, REGION_VARIANCES);
    observedMean = f64x2.add(observedMean, observedSum);
    mean = f64x2.add(mean, sum);
    square = f64x2.add(square, squares);
    varianceWithin = f64x2.add(varianceWithin, f64x2.mul(all, variance));
  }
  v128.store(weights, observedMean, MEANS);
  v128.store(weights, f64x2.sub(square, f64x2.mul(mean, mean)), VARIANCES);
  v128.store(weights, varianceWithin, VARIANCES_WITHIN);
}

/** Converts four doubles to singles. */
function singles(at: usize): v128 {
  const first = f32x4.demote_f64x2_zero(v128.load(at));
  return i64x2.shuffle(first, f32x4.demote_f64x2_zero(v128.load(at, 16)), 0, 2);
}

/** Moves the upper two of four lanes down. */
function upper(four: v128): v128 {
  return i64x2.shuffle(four, four, 1, 0);
}

/** Address of the density under a fault: the baseline's, shifted, or `ofLast` for a negative shift. */
function slowedDensity(t: usize, density: usize, ofLast: usize): usize {
  const shift = load<f64>(templates + t, SHIFT);
  return shift < 0 ? ofLast : density - ((<usize>shift) << 2);
}

/** Natural logarithm of one number, computed as `logsOf` does. */
export function logOf(x: f32): f32 {
  return f32x4.extract_lane(logsOf(f32x4.splat(x)), 0);
}

/**
 * Natural logarithms of four positive normal numbers. Errors are at most 1e-7 or, of larger logarithms, the
 * last bit or two. A polynomial covers mantissas from the root of 1/2 to that of 2: that of `logf` in the
 * Cephes library (Moshier 1992).
 */
function logsOf(x: v128): v128 {
  const bits = i32x4.add(x, i32x4.splat(ONE - ROOT_OF_HALF));
  const exponent = f32x4.convert_i32x4_s(i32x4.sub(i32x4.shr_s(bits, 23), i32x4.splat(127)));
  const fraction = v128.and(bits, i32x4.splat(0x7fffff));
  const f = f32x4.sub(i32x4.add(fraction, i32x4.splat(ROOT_OF_HALF)), f32x4.splat(1));
  let sum = f32x4.splat(7.0376836292e-2);
  sum = plus(f32x4.mul(sum, f), -1.151461031e-1);
  sum = plus(f32x4.mul(sum, f), 1.167699874e-1);
  sum = plus(f32x4.mul(sum, f), -1.2420140846e-1);
  sum = plus(f32x4.mul(sum, f), 1.4249322787e-1);
  sum = plus(f32x4.mul(sum, f), -1.6668057665e-1);
  sum = plus(f32x4.mul(sum, f), 2.0000714765e-1);
  sum = plus(f32x4.mul(sum, f), -2.4999993993e-1);
  sum = plus(f32x4.mul(sum, f), 3.3333331174e-1);
  const square = f32x4.mul(f, f);
  sum = f32x4.mul(f32x4.mul(sum, f), square);
  sum = f32x4.add(sum, f32x4.mul(exponent, f32x4.splat(-2.1219444e-4)));
  sum = f32x4.sub(sum, f32x4.mul(f32x4.splat(0.5), square));
  return f32x4.add(f32x4.add(f, sum), f32x4.mul(exponent, f32x4.splat(0.693359375)));
}

function plus(four: v128, one: f32): v128 {
  return f32x4.add(four, f32x4.splat(one));
}

/** Scores the window weighed last, conditionally on the number of its requests in each region. */
export function within(weights: usize, scores: usize, into: usize): void {
  countRegions(weights);
  for (let t: usize = 0; t < FAULTS; t += 16) {
    let rest = v128.load(scores + t, SCORES_SUMS);
    let mean = f64x2.splat(0);
    let variance = mean;
    for (let region: usize = 0; region < regions; region++) {
      const requests = v128.load64_splat(weights + (region << 3), IN_REGION);
      const at = weights + region * FAULTS + t;
      rest = f64x2.sub(rest, f64x2.mul(requests, v128.load(at, REGION_WEIGHTS)));
      mean = f64x2.add(mean, f64x2.mul(requests, v128.load(at, REGION_MEANS)));
      variance = f64x2.add(variance, f64x2.mul(requests, v128.load(at, REGION_VARIANCES)));
    }
    v128.store(into + t, rest, SCORES_SUMS);
    v128.store(into + t, f64x2.sub(rest, mean), SCORES_EXCESS);
    v128.store(into + t, variance, SCORES_VARIANCES);
  }
}

/** Counts the requests of the window weighed last in each region. */
function countRegions(weights: usize): void {
  let at = bins;
  let before = 0;
  for (let region: usize = 0; region < regions; region++) {
    const end = load<i32>(weights + (region << 2), FIRST_OF + 4) << ROW_SHIFT;
    let upTo = before;
    for (; at < bins + binBytes && load<i32>(at) < end; at += 8) upTo = load<i32>(at, 4);
    store<f64>(weights + (region << 3), <f64>(upTo - before), IN_REGION);
    before = upTo;
  }
}
