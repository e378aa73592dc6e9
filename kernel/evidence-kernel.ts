// Adds a window's scores to the cumulative evidence for each fault (CUSUM), two faults at a time.
// AssemblyScript: `npm run generate:kernel` compiles it to WebAssembly, into
// src/detect/tail/evidence/evidence-kernel-wasm.ts. It works on the memory of src/memory/arena.ts.

/** Offsets and sizes, defined by src/detect/tail/evidence/evidence-layout.ts. */
const faults: usize = 16;
const FAULTS: usize = 128;

/** Field of `weightsLayout`: requests of the baseline. */
const WEIGHTS_REQUESTS: usize = 56;

/** Fields of `scoresLayout`. */
const SCORES_SUMS: usize = 0;
const SCORES_EXCESS: usize = FAULTS;
const SCORES_VARIANCES: usize = 2 * FAULTS;
const SCORES_RUN: usize = 3 * FAULTS;
const SCORES_SUM: usize = SCORES_RUN + 8;
const SCORES_SCORE: usize = SCORES_SUM + 8;
const SCORES_VARIANCE_INFLATION: usize = SCORES_SCORE + 8;

/** Layout of `TailCounts`: starts of the kept windows, number of windows added, and cumulative sums. */
const kept: usize = 31;
const ADDED: usize = kept * 8;
const SUMS: usize = ADDED + 8;

/** Fields of `evidenceLayout`; those of `LocalLevel` come last. */
const MOST_DISPERSION: usize = 0;
const LEARNT: usize = 8;
const KEEP: usize = 16;
const WINDOW_WEEKS: usize = 24;
const PEAKS: usize = 32;
/** Fields of `PeaksOverThreshold`: weeks, and the current peak. All fields before that one decay. */
const WEEKS: usize = PEAKS + 16;
const PEAK: usize = PEAKS + 48;
const SUM: usize = 128;
const START: usize = SUM + FAULTS;
const HIGHEST: usize = START + FAULTS;
const CLEAREST: usize = HIGHEST + FAULTS;
const LAST: usize = CLEAREST + FAULTS;
const VARIANCE_INFLATION: usize = LAST + FAULTS;
const DISPERSION: usize = VARIANCE_INFLATION + FAULTS;
const SPREAD: usize = DISPERSION + FAULTS;
const DRIFT: usize = SPREAD + FAULTS;
const DRIFT_REQUESTS: usize = DRIFT;
const DRIFT_WINDOWS: usize = DRIFT + 8;
const DRIFT_SUM: usize = DRIFT + 64;
const DRIFT_LEVEL: usize = DRIFT_SUM + FAULTS;
const DRIFT_ERROR: usize = DRIFT_LEVEL + FAULTS;
const DRIFT_MEDIAN: usize = DRIFT_ERROR + FAULTS;

/** Fields of `waitingLayout`. */
const WAITING_SCORE: usize = 0;
const WAITING_REQUESTS: usize = 8;
const WAITING_EXCESS: usize = 16;
const WAITING_SQUARES: usize = WAITING_EXCESS + FAULTS;

/** Constants, in the order of `kernelConstants` in src/detect/tail/evidence/cusum-bank.ts. */
const PEAK_SCORE: usize = 0;
const OVER_SHARE: usize = 8;
const LEAST_FALL: usize = 16;
const OVER_FALL: usize = 24;
const MAX_VARIANCE_RATIO: usize = 32;
const MEDIAN_OF_CHANCE: usize = 40;
const STATIONARY_RATIO: usize = 48;
const BLOCK_WINDOWS: usize = 56;
const NOISE_OF_BASELINE: usize = 64;
const DISPERSION_WINDOWS: usize = 72;
const PRIOR_WINDOWS: usize = 80;
const VARIATION_SLOPE: usize = 88;

let constants: usize = 0;

/** Sets the address of the constants, for all later calls. */
export function configure(constantsAt: usize): void {
  constants = constantsAt;
}

/** Adds a window to the evidence. Returns the fault with the largest sum; of equal ones, the last. */
function add(evidence: usize, startMs: f64, requests: f64, scores: usize): i32 {
  const zero = f64x2.splat(0);
  const start = f64x2.splat(startMs);
  const all = f64x2.splat(requests);
  let largest = zero;
  for (let t: usize = 0; t < FAULTS; t += 16) {
    const at = evidence + t;
    const predicted = f64x2.mul(all, f64x2.pmax(zero, v128.load(at, DRIFT_LEVEL)));
    const unpredicted = f64x2.sub(v128.load(scores + t, SCORES_SUMS), predicted);
    const gain = f64x2.div(unpredicted, v128.load(at, VARIANCE_INFLATION));
    const before = v128.load(at, SUM);
    const begins = f64x2.le(before, zero);
    const sum = f64x2.add(before, gain);
    v128.store(at, v128.bitselect(start, v128.load(at, START), begins), START);
    v128.store(at, f64x2.pmax(zero, sum), SUM);
    const highest = v128.andnot(v128.load(at, HIGHEST), begins);
    const higher = v128.bitselect(sum, highest, f64x2.gt(sum, highest));
    v128.store(at, higher, HIGHEST);
    const clearest = v128.andnot(v128.load(at, CLEAREST), begins);
    v128.store(at, v128.bitselect(gain, clearest, f64x2.gt(gain, clearest)), CLEAREST);
    v128.store(at, gain, LAST);
    largest = f64x2.pmax(largest, higher);
  }
  const peakScore = load<f64>(constants, PEAK_SCORE);
  if (f64x2.extract_lane(largest, 0) > peakScore || f64x2.extract_lane(largest, 1) > peakScore) {
    resetDecayed(evidence);
  }
  return faultOfLargestSum(evidence);
}

/**
 * Adds a window to the evidence and returns the fault with the largest sum. Writes four numbers of this fault
 * behind the scores: windows of evidence, sum, score and variance inflation. The score is the sum less the
 * part that noise of the baseline may have caused.
 */
export function find(
  evidence: usize,
  weights: usize,
  counts: usize,
  quantiles: i32,
  windowMs: f64,
  startMs: f64,
  requests: f64,
  scores: usize,
): i32 {
  const largest = add(evidence, startMs, requests, scores);
  const fault = evidence + ((<usize>largest) << 3);
  const run = windowsSince(counts, load<f64>(fault, START), windowMs);
  const added = <usize>load<f64>(counts, ADDED);
  const width: usize = 8 + ((<usize>quantiles) << 5);
  const last = load<f64>(counts + ((added + kept - 1) % kept) * width, SUMS);
  const ofRun = last - load<f64>(counts + ((added + kept - run - 1) % kept) * width, SUMS);
  const noise =
    (load<f64>(constants, NOISE_OF_BASELINE) * ofRun) / load<f64>(weights, WEIGHTS_REQUESTS);
  const sum = load<f64>(fault, SUM);
  store<f64>(scores, <f64>run, SCORES_RUN);
  store<f64>(scores, sum, SCORES_SUM);
  store<f64>(scores, sum / (1 + noise), SCORES_SCORE);
  store<f64>(scores, load<f64>(fault, VARIANCE_INFLATION), SCORES_VARIANCE_INFLATION);
  return largest;
}

/**
 * Counts the last windows that started at `fromMs` or later, from 1 to a run. It stops at a gap, where the
 * window n before the last one started more than 2n window lengths earlier.
 */
function windowsSince(counts: usize, fromMs: f64, windowMs: f64): usize {
  const added = <usize>load<f64>(counts, ADDED);
  const maxWindows = min(added, kept - 1);
  let slot = (added + kept - 1) % kept;
  const lastMs = load<f64>(counts + (slot << 3));
  let windows: usize = 1;
  for (; windows < maxWindows; windows++) {
    slot = slot === 0 ? kept - 1 : slot - 1;
    const startMs = load<f64>(counts + (slot << 3));
    if (startMs < fromMs || lastMs - startMs > <f64>(2 * windows) * windowMs) break;
  }
  return windows;
}

/** Resets decayed evidence, whose fault has ended: all evidence, if the one with the highest peak decayed. */
function resetDecayed(evidence: usize): void {
  let highest = evidence;
  for (let at = evidence + 8; at < evidence + FAULTS; at += 8) {
    if (load<f64>(at, HIGHEST) > load<f64>(highest, HIGHEST)) highest = at;
  }
  const resetsAll = hasDecayed(highest);
  for (let at = evidence; at < evidence + FAULTS; at += 8) {
    if (resetsAll || hasDecayed(at)) store<f64>(at, 0, SUM);
  }
}

/**
 * True where a sum peaked above `PEAK_SCORE` and then fell: below `OVER_SHARE` of its peak and by
 * `LEAST_FALL`, or by `OVER_FALL`.
 */
function hasDecayed(fault: usize): bool {
  const highest = load<f64>(fault, HIGHEST);
  const share = load<f64>(constants, OVER_SHARE) * highest;
  const fallen = highest - load<f64>(constants, LEAST_FALL);
  const threshold = max(min(share, fallen), highest - load<f64>(constants, OVER_FALL));
  return highest > load<f64>(constants, PEAK_SCORE) && load<f64>(fault, SUM) < threshold;
}

/** Returns the fault with the largest sum; of equal ones, the last. */
function faultOfLargestSum(evidence: usize): i32 {
  let largest: usize = 0;
  let sum = load<f64>(evidence, SUM);
  for (let t: usize = 1; t < faults; t++) {
    const other = load<f64>(evidence + (t << 3), SUM);
    const isLarger = other >= sum;
    largest = isLarger ? t : largest;
    sum = isLarger ? other : sum;
  }
  return <i32>largest;
}

/** Stores a window's scores, to be learnt later. A squared residual is NaN where the variance is 0. */
export function keep(waiting: usize, score: f64, requests: f64, scores: usize): void {
  store<f64>(waiting, score, WAITING_SCORE);
  store<f64>(waiting, requests, WAITING_REQUESTS);
  const zero = f64x2.splat(0);
  const none = f64x2.splat(NaN);
  for (let t: usize = 0; t < FAULTS; t += 16) {
    const excess = v128.load(scores + t, SCORES_EXCESS);
    const variance = v128.load(scores + t, SCORES_VARIANCES);
    const square = f64x2.div(f64x2.mul(excess, excess), variance);
    const varies = f64x2.gt(variance, zero);
    v128.store(waiting + t, excess, WAITING_EXCESS);
    v128.store(waiting + t, v128.bitselect(square, none, varies), WAITING_SQUARES);
  }
}

/**
 * Learns a stored window, unless it has no requests. Peaks decay, dispersions move towards the squared
 * residuals, and the block of the local level accumulates the excess.
 *
 * Returns a sum of `dueAfterLearning`: 1 where the block is full, 2 where a peak is in progress. In the
 * second case the host decays the peaks.
 */
export function learn(evidence: usize, waiting: usize): i32 {
  const requests = load<f64>(waiting, WAITING_REQUESTS);
  if (requests === 0) return 0;
  let due = 0;
  const score = load<f64>(waiting, WAITING_SCORE);
  if (score > load<f64>(constants, PEAK_SCORE) || load<f64>(evidence, PEAK) !== 0) due = 2;
  else {
    const keep = load<f64>(evidence, KEEP);
    for (let at = evidence; at < evidence + PEAK - PEAKS; at += 8) {
      store<f64>(at, load<f64>(at, PEAKS) * keep, PEAKS);
    }
    store<f64>(evidence, load<f64>(evidence, WEEKS) + load<f64>(evidence, WINDOW_WEEKS), WEEKS);
  }
  const learnt = load<f64>(evidence, LEARNT) + 1;
  store<f64>(evidence, learnt, LEARNT);
  const windows = min(learnt, load<f64>(constants, DISPERSION_WINDOWS));
  const weight = 1 / (windows + load<f64>(constants, PRIOR_WINDOWS));
  const zero = f64x2.splat(0);
  const one = f64x2.splat(1);
  const by = f64x2.splat(weight);
  const maxVarianceRatio = v128.load64_splat(constants, MAX_VARIANCE_RATIO);
  let largest = zero;
  for (let t: usize = 0; t < FAULTS; t += 16) {
    const at = evidence + t;
    const before = v128.load(at, DISPERSION);
    const squares = v128.load(waiting + t, WAITING_SQUARES);
    const square = f64x2.pmin(squares, f64x2.mul(maxVarianceRatio, before));
    const moved = f64x2.add(before, f64x2.mul(by, f64x2.sub(square, before)));
    const isNumber = f64x2.ge(square, zero);
    const dispersion = v128.bitselect(f64x2.pmax(one, moved), before, isNumber);
    v128.store(at, dispersion, DISPERSION);
    v128.store(at, f64x2.mul(dispersion, v128.load(at, SPREAD)), VARIANCE_INFLATION);
    largest = f64x2.pmax(largest, dispersion);
    const sum = f64x2.add(v128.load(at, DRIFT_SUM), v128.load(waiting + t, WAITING_EXCESS));
    v128.store(at, sum, DRIFT_SUM);
  }
  storeMostDispersion(evidence, largest);
  store<f64>(evidence, load<f64>(evidence, DRIFT_REQUESTS) + requests, DRIFT_REQUESTS);
  const ofBlock = load<f64>(evidence, DRIFT_WINDOWS) + 1;
  store<f64>(evidence, ofBlock, DRIFT_WINDOWS);
  return ofBlock >= load<f64>(constants, BLOCK_WINDOWS) ? due | 1 : due;
}

/** Recomputes spreads, variance inflations and the largest dispersion. Spreads hold until a block is full. */
export function renew(evidence: usize): void {
  const one = f64x2.splat(1);
  const significant = f64x2.splat(significantRatio(evidence));
  const chance = v128.load64_splat(constants, MEDIAN_OF_CHANCE);
  let largest = f64x2.splat(0);
  for (let t: usize = 0; t < FAULTS; t += 16) {
    const at = evidence + t;
    const ratio = f64x2.div(v128.load(at, DRIFT_ERROR), chance);
    const spread = v128.bitselect(ratio, one, f64x2.gt(ratio, significant));
    v128.store(at, spread, SPREAD);
    const dispersion = v128.load(at, DISPERSION);
    v128.store(at, f64x2.mul(dispersion, spread), VARIANCE_INFLATION);
    largest = f64x2.pmax(largest, dispersion);
  }
  storeMostDispersion(evidence, largest);
}

/** Variance ratio up to which a level is constant; lower where another level surely varies. */
function significantRatio(evidence: usize): f64 {
  let largest = f64x2.splat(0);
  for (let t: usize = 0; t < FAULTS; t += 16) {
    largest = f64x2.pmax(largest, v128.load(evidence + t, DRIFT_MEDIAN));
  }
  const median = max(f64x2.extract_lane(largest, 0), f64x2.extract_lane(largest, 1));
  const stationaryRatio = load<f64>(constants, STATIONARY_RATIO);
  const ratio = max(stationaryRatio, median / load<f64>(constants, MEDIAN_OF_CHANCE));
  const levelVariation = min(1, load<f64>(constants, VARIATION_SLOPE) * (ratio - stationaryRatio));
  return stationaryRatio - (stationaryRatio - 1) * levelVariation;
}

/** Stores the larger of two dispersions as the evidence's largest one. */
function storeMostDispersion(evidence: usize, largest: v128): void {
  const larger = max(f64x2.extract_lane(largest, 0), f64x2.extract_lane(largest, 1));
  store<f64>(evidence, larger, MOST_DISPERSION);
}
