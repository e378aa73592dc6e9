// What each duration says for each fault, and what a window's requests say together: several faults side by
// side. AssemblyScript: `npm run generate:kernel` compiles it to WebAssembly, into
// src/detect/weights-kernel-wasm.ts. All that it reads and writes is in the memory of
// src/baseline/state-memory.ts. Sums of each fault are added up in the order of the bins, as a loop over
// one fault would, so that they are the same to the last bit.

/** Offsets and numbers: those of src/detect/evidence-layout.ts, which says what lies there. */
const faults: usize = 16;
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
const LEAST_WEIGHT: usize = 2 * FAULTS;
const SHIFT: usize = 3 * FAULTS;

/** Constants, as they are given. */
const LEAST_MS: usize = 0;
const MOST_RATIO: usize = 8;
const MOST_EVIDENCE: usize = 16;

/** Bins are an eighth of an octave: exponent and the top 3 bits of the mantissa. */
const BIN_SHIFT = 49;

let constants: usize = 0;
let templates: usize = 0;

/** As `Math.log`: the host's, of which there are few. */
declare function log(x: f64): f64;

/** Takes addresses that stay as they are. */
export function configure(constantsAt: usize, templatesAt: usize): void {
  constants = constantsAt;
  templates = templatesAt;
}

/** Adds up what the window's requests say, for each fault. */
export function weigh(
  centroids: usize,
  size: i32,
  weights: usize,
  said: usize,
  requests: f64,
  scratch: usize,
): void {
  const found = binsOf(centroids, size, weights, scratch);
  const table: usize = load<u32>(weights, TABLE);
  for (let t: usize = 0; t < faults; t += 8) {
    const row = table + (t << 2);
    let a = f64x2.splat(0);
    let b = a;
    let c = a;
    let d = a;
    for (let i: usize = 0; i < found; i += 16) {
      const at = row + <usize>load<u32>(scratch + i, 8);
      const inBin = v128.load64_splat(scratch + i);
      a = f64x2.add(a, f64x2.mul(inBin, two(at)));
      b = f64x2.add(b, f64x2.mul(inBin, two(at + 8)));
      c = f64x2.add(c, f64x2.mul(inBin, two(at + 16)));
      d = f64x2.add(d, f64x2.mul(inBin, two(at + 24)));
    }
    const to = said + (t << 3);
    v128.store(to, a, SAID_SUMS);
    v128.store(to, b, SAID_SUMS + 16);
    v128.store(to, c, SAID_SUMS + 32);
    v128.store(to, d, SAID_SUMS + 48);
  }
  const all = f64x2.splat(requests);
  for (let t: usize = 0; t < FAULTS; t += 16) {
    const usual = f64x2.mul(all, v128.load(weights + t, MEANS));
    v128.store(said + t, f64x2.sub(v128.load(said + t, SAID_SUMS), usual), SAID_EXCESS);
    const variance = f64x2.mul(all, v128.load(weights + t, VARIANCES));
    v128.store(said + t, variance, SAID_VARIANCES);
  }
}

/** Two of the table's numbers. */
function two(at: usize): v128 {
  return f64x2.promote_low_f32x4(v128.load64_zero(at));
}

/**
 * Fills the scratch with the requests of each of the window's bins, and where it lies in the table: 16
 * bytes each. How many bytes that are.
 */
function binsOf(means: usize, size: i32, weights: usize, scratch: usize): usize {
  const low = load<i32>(weights, LOW);
  const top = load<i32>(weights, BINS) - 1;
  const leastMs = load<f64>(constants, LEAST_MS);
  const bytes = (<usize>size) << 3;
  for (let region: usize = 0; region < regions; region++) {
    store<f64>(weights + (region << 3), 0, IN_REGION);
  }
  let region: usize = 0;
  let end = load<i32>(weights, FIRST_OF + 4);
  let inRegion: f64 = 0;
  let to = scratch - 16;
  let before = -1;
  let inBin = f64x2.splat(0);
  for (let i: usize = 0; i < bytes; i += 8) {
    const ms = load<f64>(means + i);
    const weight = load<f64>(means + bytes + i);
    let bin = <i32>(reinterpret<u64>(max(ms, leastMs)) >> BIN_SHIFT) - low;
    bin = min(max(bin, 0), top);
    while (bin >= end) {
      store<f64>(weights + (region << 3), inRegion, IN_REGION);
      inRegion = 0;
      region++;
      end = load<i32>(weights + (region << 2), FIRST_OF + 4);
    }
    inRegion += weight;
    // Centroids ascend: those of one bin follow each other. Which do cannot be foretold.
    const isSame = bin === before;
    inBin = f64x2.add(v128.and(inBin, i64x2.splat(isSame ? -1 : 0)), f64x2.splat(weight));
    to = isSame ? to : to + 16;
    store<f64>(to, f64x2.extract_lane(inBin, 0));
    store<u32>(to, <u32>bin * 64, 8);
    before = bin;
  }
  store<f64>(weights + (region << 3), inRegion, IN_REGION);
  return to + 16 - scratch;
}

/**
 * Weighs every bin for each fault, two of these at a time, and what usual requests say of it: in each region, and in
 * all. The density is smooth and wider than the requests lie. Their variance is that of the density, which is
 * never 0; their mean is their own, or a stage whose requests are all alike would seem to wander.
 */
export function weighBins(weights: usize, density: usize, parts: usize): void {
  const table: usize = load<u32>(weights, TABLE);
  const one = f64x2.splat(1);
  const mostRatio = v128.load64_splat(constants, MOST_RATIO);
  const mostEvidence = v128.load64_splat(constants, MOST_EVIDENCE);
  for (let t: usize = 0; t < FAULTS; t += 16) {
    const share = v128.load(templates + t, SHARE);
    const rest = f64x2.sub(one, share);
    const leastRatio = v128.load(templates + t, LEAST_RATIO);
    const leastWeight = v128.load(templates + t, LEAST_WEIGHT);
    const shifted = density - <usize>load<f64>(templates + t, SHIFT) * 8;
    const shiftedNext = density - <usize>load<f64>(templates + t, SHIFT + 8) * 8;
    const column = table + (t >> 1);
    let seenMean = f64x2.splat(0);
    let mean = seenMean;
    let square = seenMean;
    let varianceWithin = seenMean;
    for (let region: usize = 0; region < regions; region++) {
      let usually: f64 = 0;
      let seen: f64 = 0;
      let faulty = f64x2.splat(0);
      let sum = faulty;
      let squares = faulty;
      let seenSum = faulty;
      const end = <usize>load<i32>(weights + (region << 2), FIRST_OF + 4);
      for (let bin = <usize>load<i32>(weights + (region << 2), FIRST_OF); bin < end; bin++) {
        const ofBin = load<f64>(density + (bin << 3));
        const usual = f64x2.splat(ofBin);
        const slowed = f64x2.replace_lane(
          v128.load64_splat(shifted + (bin << 3)),
          1,
          load<f64>(shiftedNext + (bin << 3)),
        );
        const likelier = f64x2.add(rest, f64x2.div(f64x2.mul(share, slowed), usual));
        const ratio = f64x2.min(f64x2.max(likelier, leastRatio), mostRatio);
        // Most bins are at one of the ends, which need no logarithm.
        const isMost = f64x2.eq(ratio, mostRatio);
        let weight = v128.bitselect(mostEvidence, leastWeight, isMost);
        const isBetween = v128.andnot(f64x2.gt(ratio, leastRatio), isMost);
        if (v128.any_true(isBetween)) weight = v128.bitselect(logsOf(ratio), weight, isBetween);
        v128.store64_lane(column + (bin << 6), f32x4.demote_f64x2_zero(weight), 0);
        const weighed = f64x2.mul(usual, weight);
        const part = load<f64>(parts + (bin << 3));
        usually += ofBin;
        faulty = f64x2.add(faulty, f64x2.mul(usual, ratio));
        sum = f64x2.add(sum, weighed);
        squares = f64x2.add(squares, f64x2.mul(weighed, weight));
        seen += part;
        seenSum = f64x2.add(seenSum, f64x2.mul(f64x2.splat(part), weight));
      }
      seenMean = f64x2.add(seenMean, seenSum);
      mean = f64x2.add(mean, sum);
      square = f64x2.add(square, squares);
      const all = f64x2.splat(usually);
      let ofRegion = f64x2.splat(0);
      let variance = ofRegion;
      if (usually !== 0) {
        const times = f64x2.div(faulty, all);
        const first = f64x2.splat(log(f64x2.extract_lane(times, 0)));
        ofRegion = f64x2.replace_lane(first, 1, log(f64x2.extract_lane(times, 1)));
        const usualMean = f64x2.div(sum, all);
        variance = f64x2.sub(f64x2.div(squares, all), f64x2.mul(usualMean, usualMean));
      }
      const at = weights + region * FAULTS + t;
      v128.store(at, ofRegion, REGION_WEIGHTS);
      const beyond = f64x2.sub(f64x2.div(seenSum, f64x2.splat(seen)), ofRegion);
      v128.store(at, seen === 0 ? f64x2.splat(0) : beyond, REGION_MEANS);
      v128.store(at, variance, REGION_VARIANCES);
      varianceWithin = f64x2.add(varianceWithin, f64x2.mul(all, variance));
    }
    v128.store(weights + t, seenMean, MEANS);
    v128.store(weights + t, f64x2.sub(square, f64x2.mul(mean, mean)), VARIANCES);
    v128.store(weights + t, varianceWithin, VARIANCES_WITHIN);
  }
}

/** The logarithm of one number, as it is made of two. */
export function logOf(x: f64): f64 {
  return f64x2.extract_lane(logsOf(f64x2.splat(x)), 0);
}

/**
 * Natural logarithms of two positive numbers that are not subnormal, the same to the last bit as `Math.log` has
 * them. The method is that of FreeBSD's msun (e_log.c, Sun Microsystems 1993), which V8 has too.
 */
function logsOf(x: v128): v128 {
  const high = i64x2.shr_u(x, 32);
  const fraction = v128.and(high, i64x2.splat(0xfffff));
  // Next to a power of two there is a case of its own: rare, and not made here.
  const isNear = i64x2.lt_s(
    v128.and(i64x2.add(fraction, i64x2.splat(2)), i64x2.splat(0xfffff)),
    i64x2.splat(3),
  );
  if (v128.any_true(isNear)) {
    const first = f64x2.splat(log(f64x2.extract_lane(x, 0)));
    return f64x2.replace_lane(first, 1, log(f64x2.extract_lane(x, 1)));
  }
  const carry = v128.and(i64x2.add(fraction, i64x2.splat(0x95f64)), i64x2.splat(0x100000));
  const scale = v128.or(fraction, v128.xor(carry, i64x2.splat(0x3ff00000)));
  const low = v128.and(x, i64x2.splat(0xffffffff));
  const exponent = i64x2.sub(i64x2.shr_u(high, 20), i64x2.splat(1023));
  const k = toDoubles(i64x2.add(exponent, i64x2.shr_u(carry, 20)));
  const f = f64x2.sub(v128.or(i64x2.shl(scale, 32), low), f64x2.splat(1));
  const s = f64x2.div(f, f64x2.add(f64x2.splat(2), f));
  const z = f64x2.mul(s, s);
  const w = f64x2.mul(z, z);
  let even = f64x2.mul(w, f64x2.splat(0.15313837699209373));
  even = f64x2.mul(w, f64x2.add(f64x2.splat(0.22222198432149784), even));
  even = f64x2.mul(w, f64x2.add(f64x2.splat(0.3999999999940942), even));
  let odd = f64x2.mul(w, f64x2.splat(0.14798198605116586));
  odd = f64x2.mul(w, f64x2.add(f64x2.splat(0.1818357216161805), odd));
  odd = f64x2.mul(w, f64x2.add(f64x2.splat(0.2857142874366239), odd));
  odd = f64x2.mul(z, f64x2.add(f64x2.splat(0.6666666666666735), odd));
  const r = f64x2.add(odd, even);
  const highPart = f64x2.mul(k, f64x2.splat(0.6931471803691238));
  const lowPart = f64x2.mul(k, f64x2.splat(1.9082149292705877e-10));
  const half = f64x2.mul(f64x2.mul(f64x2.splat(0.5), f), f);
  const isMiddle = v128.and(
    i64x2.ge_s(fraction, i64x2.splat(0x6147a)),
    i64x2.le_s(fraction, i64x2.splat(0x6b851)),
  );
  const ofHalf = f64x2.add(f64x2.mul(s, f64x2.add(half, r)), lowPart);
  const middle = f64x2.sub(half, ofHalf);
  const outer = f64x2.sub(f64x2.mul(s, f64x2.sub(f, r)), lowPart);
  return f64x2.sub(highPart, f64x2.sub(v128.bitselect(middle, outer, isMiddle), f));
}

/** Small whole numbers as doubles: added to one whose last bit is worth 1. */
function toDoubles(whole: v128): v128 {
  const bits = i64x2.add(whole, i64x2.splat(0x4338000000000000));
  return f64x2.sub(bits, f64x2.splat(6755399441055744));
}

/** What is left when it is given how many of the requests lie in each region. */
export function within(weights: usize, said: usize, into: usize): void {
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
