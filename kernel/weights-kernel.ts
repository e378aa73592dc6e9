// What each duration says for each fault, and what a window's requests say together: several faults side by
// side. AssemblyScript: `npm run generate:kernel` compiles it to WebAssembly, into
// src/detect/tail/evidence/weights-kernel-wasm.ts. All that it reads and writes is in the memory of
// src/memory/arena.ts. Sums of each fault are added up in the order of the bins, as a loop over
// one fault would, so that they are the same to the last bit.

/** Offsets and numbers: those of src/detect/tail/evidence/evidence-layout.ts, which says what lies there. */
const regions: usize = 3;
const FAULTS: usize = 128;

/** Of a window's centroids: their bins and what is in each. */
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

/** Of what a window says. */
const SAID_SUMS: usize = 0;
const SAID_EXCESS: usize = FAULTS;
const SAID_VARIANCES: usize = 2 * FAULTS;

/** What is known of faults: shares, and so on. */
const SHARE: usize = 0;
const LEAST_RATIO: usize = FAULTS;
const SHIFT: usize = 2 * FAULTS;

/** Constants, as they are given. */
const LEAST_MS: usize = 0;
const MOST_RATIO: usize = 8;
const MOST_EVIDENCE: usize = 16;
const UNIT: usize = 24;

/**
 * Bins are an eighth of an octave: exponent and the top 3 bits of the mantissa. Those of doubles have numbers
 * that are larger by so many than those of singles.
 */
const SINGLE_SHIFT = 20;
const SINGLE_BINS = (1_023 - 127) << 3;
/** A row of the table has 16 bits for each fault: what a request of the bin says for it, in units. */
const ROW_SHIFT = 5;
const MOST_OF_16_BITS = 32_767;

/** Sums over the bins of a region: for each fault of ratios, of weights and of what was seen; of all. */
const SUM_RATIOS: usize = 0;
const SUM_WEIGHTS: usize = FAULTS;
const SUM_SQUARES: usize = 2 * FAULTS;
const SUM_OF_SEEN: usize = 3 * FAULTS;
const SUM_USUALLY: usize = 4 * FAULTS;
const SUM_SEEN: usize = SUM_USUALLY + 8;
const REGION_SUMS: usize = SUM_SEEN + 8;

/** Singles, bit by bit. */
const ONE = 0x3f800000;
const ROOT_OF_HALF = 0x3f3504f3;

let constants: usize = 0;
let templates: usize = 0;
let sums: usize = 0;

/** The bins of the window that was weighed last: where they are, and how many bytes. */
let bins: usize = 0;
let found: usize = 0;

/** As `Math.log`: the host's, of which there are few. */
declare function log(x: f64): f64;

/** Takes addresses that stay as they are. */
export function configure(constantsAt: usize, templatesAt: usize, sumsAt: usize): void {
  constants = constantsAt;
  templates = templatesAt;
  sums = sumsAt;
}

/**
 * Adds up what the window's requests say, for each fault. Centroids are floats: so many means, and as many
 * weights, which are whole. Sums are of whole units, so that they are exact.
 */
export function weigh(
  centroids: usize,
  size: i32,
  weights: usize,
  said: usize,
  scratch: usize,
): void {
  const bytes = (<usize>size) << 2;
  placeCentroids(centroids, bytes, weights, scratch);
  bins = scratch + 2 * bytes + 32;
  found = binsOf(scratch, bytes, bins);
  const requests = load<i32>(bins + found, 4);
  const table: usize = load<u32>(weights, TABLE);
  if (requests <= MOST_OF_16_BITS) addFew(table, said);
  else addMany(table, said);
  const all = f64x2.splat(<f64>requests);
  for (let t: usize = 0; t < FAULTS; t += 16) {
    const usual = f64x2.mul(all, v128.load(weights + t, MEANS));
    v128.store(said + t, f64x2.sub(v128.load(said + t, SAID_SUMS), usual), SAID_EXCESS);
    const variance = f64x2.mul(all, v128.load(weights + t, VARIANCES));
    v128.store(said + t, variance, SAID_VARIANCES);
  }
}

/** Puts the row of each centroid to the scratch, and behind all of these its requests: four at a time. */
function placeCentroids(means: usize, bytes: usize, weights: usize, scratch: usize): void {
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
  // Behind the last one there is another.
  store<i32>(scratch + bytes, -1);
}

/** Joins centroids of one bin, which follow each other: rows, requests up to there. How many bytes it is. */
function binsOf(rows: usize, bytes: usize, to: usize): usize {
  const begin = to;
  const requests = rows + bytes + 16;
  let upTo = 0;
  let row = load<i32>(rows);
  for (let i: usize = 0; i < bytes; i += 4) {
    upTo += load<i32>(requests + i);
    store<i32>(to, row);
    store<i32>(to, upTo, 4);
    const next = load<i32>(rows + i, 4);
    // Which are of one bin cannot be foretold.
    to += (<usize>(next !== row)) << 3;
    row = next;
  }
  // One more of no requests, where they are looked at by twos.
  store<i32>(to, 0);
  store<i32>(to, upTo, 4);
  return to - begin;
}

/** Adds up so few requests that 32 bits hold their sums: two bins, and four faults, at a time. */
function addFew(table: usize, said: usize): void {
  let a = i32x4.splat(0);
  let b = a;
  let c = a;
  let d = a;
  let before = 0;
  for (let at = bins; at < bins + found; at += 16) {
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
  storeSums(said, a);
  storeSums(said + 32, b);
  storeSums(said + 64, c);
  storeSums(said + 96, d);
}

/** Stores four sums of units as what they are worth. */
function storeSums(to: usize, units: v128): void {
  const unit = v128.load64_splat(constants, UNIT);
  v128.store(to, f64x2.mul(unit, f64x2.convert_low_i32x4_s(units)), SAID_SUMS);
  v128.store(to, f64x2.mul(unit, f64x2.convert_low_i32x4_s(upper(units))), SAID_SUMS + 16);
}

/** The same of any number of requests. */
function addMany(table: usize, said: usize): void {
  const unit = v128.load64_splat(constants, UNIT);
  for (let t: usize = 0; t < FAULTS; t += 16) {
    const column = table + (t >> 2);
    let sum = f64x2.splat(0);
    let before = 0;
    for (let at = bins; at < bins + found; at += 8) {
      const units = i32x4.extend_low_i16x8_s(v128.load32_zero(column + <usize>load<u32>(at)));
      const upTo = load<i32>(at, 4);
      const requests = f64x2.splat(<f64>(upTo - before));
      before = upTo;
      sum = f64x2.add(sum, f64x2.mul(requests, f64x2.convert_low_i32x4_s(units)));
    }
    v128.store(said + t, f64x2.mul(unit, sum), SAID_SUMS);
  }
}

/**
 * Weighs every bin for each fault, and what usual requests say of it: in each region, and in all. Densities (of
 * usual requests, and under the last fault), and the parts that were seen, are of single precision; sums of double.
 */
export function weighBins(weights: usize, density: usize, parts: usize, ofLast: usize): void {
  const table: usize = load<u32>(weights, TABLE);
  for (let region: usize = 0; region < regions; region++) {
    const first = <usize>load<i32>(weights + (region << 2), FIRST_OF);
    const end = <usize>load<i32>(weights + (region << 2), FIRST_OF + 4);
    const to = sums + region * REGION_SUMS;
    let usually: f64 = 0;
    let seen: f64 = 0;
    for (let bin = first; bin < end; bin++) {
      usually += <f64>load<f32>(density + (bin << 2));
      seen += <f64>load<f32>(parts + (bin << 2));
    }
    store<f64>(to, usually, SUM_USUALLY);
    store<f64>(to, seen, SUM_SEEN);
    for (let t: usize = 0; t < FAULTS; t += 32) {
      weighRegion(t, first, end, density, parts, ofLast, table + (t >> 2), to + t);
    }
  }
  for (let t: usize = 0; t < FAULTS; t += 16) sumUp(weights + t, sums + t);
}

/** Weighs the bins of a region for four faults. */
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
  const slowedA = slowedOf(t, density, ofLast);
  const slowedB = slowedOf(t + 8, density, ofLast);
  const slowedC = slowedOf(t + 16, density, ofLast);
  const slowedD = slowedOf(t + 24, density, ofLast);
  const zero = f64x2.splat(0);
  let ratios = zero;
  let ratiosNext = zero;
  let sum = zero;
  let sumNext = zero;
  let squares = zero;
  let squaresNext = zero;
  let seen = zero;
  let seenNext = zero;
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
    const usual = f64x2.splat(<f64>load<f32>(density + at));
    const part = f64x2.splat(<f64>load<f32>(parts + at));
    const two = f64x2.promote_low_f32x4(weight);
    const weighed = f64x2.mul(usual, two);
    ratios = f64x2.add(ratios, f64x2.mul(usual, f64x2.promote_low_f32x4(ratio)));
    sum = f64x2.add(sum, weighed);
    squares = f64x2.add(squares, f64x2.mul(weighed, two));
    seen = f64x2.add(seen, f64x2.mul(part, two));
    const next = f64x2.promote_low_f32x4(upper(weight));
    const weighedNext = f64x2.mul(usual, next);
    ratiosNext = f64x2.add(ratiosNext, f64x2.mul(usual, f64x2.promote_low_f32x4(upper(ratio))));
    sumNext = f64x2.add(sumNext, weighedNext);
    squaresNext = f64x2.add(squaresNext, f64x2.mul(weighedNext, next));
    seenNext = f64x2.add(seenNext, f64x2.mul(part, next));
  }
  v128.store(to, ratios, SUM_RATIOS);
  v128.store(to, ratiosNext, SUM_RATIOS + 16);
  v128.store(to, sum, SUM_WEIGHTS);
  v128.store(to, sumNext, SUM_WEIGHTS + 16);
  v128.store(to, squares, SUM_SQUARES);
  v128.store(to, squaresNext, SUM_SQUARES + 16);
  v128.store(to, seen, SUM_OF_SEEN);
  v128.store(to, seenNext, SUM_OF_SEEN + 16);
}

/**
 * What usual requests say of two faults. The density is smooth and wider than the requests lie. Their variance is
 * that of the density, which is never 0; their mean is their own, or a stage whose requests are all alike would
 * seem to wander.
 */
function sumUp(weights: usize, ofFaults: usize): void {
  const zero = f64x2.splat(0);
  let seenMean = zero;
  let mean = zero;
  let square = zero;
  let varianceWithin = zero;
  for (let region: usize = 0; region < regions; region++) {
    const from = ofFaults + region * REGION_SUMS;
    const ofRegion = sums + region * REGION_SUMS;
    const usually = load<f64>(ofRegion, SUM_USUALLY);
    const seen = load<f64>(ofRegion, SUM_SEEN);
    const all = f64x2.splat(usually);
    const sum = v128.load(from, SUM_WEIGHTS);
    const squares = v128.load(from, SUM_SQUARES);
    const seenSum = v128.load(from, SUM_OF_SEEN);
    let weight = zero;
    let variance = zero;
    if (usually !== 0) {
      const times = f64x2.div(v128.load(from, SUM_RATIOS), all);
      const first = f64x2.splat(log(f64x2.extract_lane(times, 0)));
      weight = f64x2.replace_lane(first, 1, log(f64x2.extract_lane(times, 1)));
      const usualMean = f64x2.div(sum, all);
      variance = f64x2.sub(f64x2.div(squares, all), f64x2.mul(usualMean, usualMean));
    }
    const beyond = f64x2.sub(f64x2.div(seenSum, f64x2.splat(seen)), weight);
    const at = weights + region * FAULTS;
    v128.store(at, weight, REGION_WEIGHTS);
    v128.store(at, seen === 0 ? zero : beyond, REGION_MEANS);
    v128.store(at, variance, REGION_VARIANCES);
    seenMean = f64x2.add(seenMean, seenSum);
    mean = f64x2.add(mean, sum);
    square = f64x2.add(square, squares);
    varianceWithin = f64x2.add(varianceWithin, f64x2.mul(all, variance));
  }
  v128.store(weights, seenMean, MEANS);
  v128.store(weights, f64x2.sub(square, f64x2.mul(mean, mean)), VARIANCES);
  v128.store(weights, varianceWithin, VARIANCES_WITHIN);
}

/** Four doubles as singles. */
function singles(at: usize): v128 {
  const first = f32x4.demote_f64x2_zero(v128.load(at));
  return i64x2.shuffle(first, f32x4.demote_f64x2_zero(v128.load(at, 16)), 0, 2);
}

/** The upper two of four. */
function upper(four: v128): v128 {
  return i64x2.shuffle(four, four, 1, 0);
}

/** Densities of requests that a fault hits: of all, moved by so many bins; below 0, what is given. */
function slowedOf(t: usize, density: usize, ofLast: usize): usize {
  const shift = load<f64>(templates + t, SHIFT);
  return shift < 0 ? ofLast : density - ((<usize>shift) << 2);
}

/** The logarithm of one number, as it is made of four. */
export function logOf(x: f32): f32 {
  return f32x4.extract_lane(logsOf(f32x4.splat(x)), 0);
}

/**
 * Natural logarithms of four positive numbers that are not subnormal, to 1e-7 or, of larger ones, to the last bit
 * or two. Parts of them between the root of a half and that of 2 are a polynomial's: that of `logf` in the
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

/** What is left of the window weighed last when it is given how many of its requests lie in each region. */
export function within(weights: usize, said: usize, into: usize): void {
  countRegions(weights);
  for (let t: usize = 0; t < FAULTS; t += 16) {
    let left = v128.load(said + t, SAID_SUMS);
    let mean = f64x2.splat(0);
    let variance = mean;
    for (let region: usize = 0; region < regions; region++) {
      const requests = v128.load64_splat(weights + (region << 3), IN_REGION);
      const at = weights + region * FAULTS + t;
      left = f64x2.sub(left, f64x2.mul(requests, v128.load(at, REGION_WEIGHTS)));
      mean = f64x2.add(mean, f64x2.mul(requests, v128.load(at, REGION_MEANS)));
      variance = f64x2.add(variance, f64x2.mul(requests, v128.load(at, REGION_VARIANCES)));
    }
    v128.store(into + t, left, SAID_SUMS);
    v128.store(into + t, f64x2.sub(left, mean), SAID_EXCESS);
    v128.store(into + t, variance, SAID_VARIANCES);
  }
}

/** How many of its requests lie in each region. */
function countRegions(weights: usize): void {
  let at = bins;
  let before = 0;
  for (let region: usize = 0; region < regions; region++) {
    const end = load<i32>(weights + (region << 2), FIRST_OF + 4) << ROW_SHIFT;
    let upTo = before;
    for (; at < bins + found && load<i32>(at) < end; at += 8) upTo = load<i32>(at, 4);
    store<f64>(weights + (region << 3), <f64>(upTo - before), IN_REGION);
    before = upTo;
  }
}
