// What a window says for each fault, added to what those before it said: several faults side by side.
// AssemblyScript: `npm run generate:kernel` compiles it to WebAssembly, into
// src/detect/tail/evidence/evidence-kernel-wasm.ts. All that it reads and writes is in the memory of
// src/memory/arena.ts.

/** Offsets and numbers: those of src/detect/tail/evidence/evidence-layout.ts, which says what lies there. */
const faults: usize = 16;
const FAULTS: usize = 128;

/** Of weights: requests of the baseline. */
const WEIGHED_REQUESTS: usize = 56;

/** Of what a window says. */
const SAID_SUMS: usize = 0;
const SAID_EXCESS: usize = FAULTS;
const SAID_VARIANCES: usize = 2 * FAULTS;
const FOUND_RUN: usize = 3 * FAULTS;
const FOUND_SUM: usize = FOUND_RUN + 8;
const FOUND_SCORE: usize = FOUND_SUM + 8;
const FOUND_RESTLESSNESS: usize = FOUND_SCORE + 8;

/** Of counts: starts of so many windows, how many were added, and sums, of all requests first. */
const kept: usize = 31;
const ADDED: usize = kept * 8;
const SUMS: usize = ADDED + 8;

/** Of evidence; what is foretold of late comes last. */
const MOST_DISPERSION: usize = 0;
const LEARNT: usize = 8;
const KEEP: usize = 16;
const WINDOW_WEEKS: usize = 24;
const PEAKS: usize = 32;
/** Of peaks: weeks, and the one that goes on, before which all fade. */
const WEEKS: usize = PEAKS + 16;
const PEAK: usize = PEAKS + 48;
const SUM: usize = 128;
const START: usize = SUM + FAULTS;
const HIGHEST: usize = START + FAULTS;
const CLEAREST: usize = HIGHEST + FAULTS;
const LAST: usize = CLEAREST + FAULTS;
const RESTLESSNESS: usize = LAST + FAULTS;
const DISPERSION: usize = RESTLESSNESS + FAULTS;
const SPREAD: usize = DISPERSION + FAULTS;
const DRIFT: usize = SPREAD + FAULTS;
const DRIFT_REQUESTS: usize = DRIFT;
const DRIFT_WINDOWS: usize = DRIFT + 8;
const DRIFT_SUM: usize = DRIFT + 64;
const DRIFT_LEVEL: usize = DRIFT_SUM + FAULTS;
const DRIFT_SURPRISE: usize = DRIFT_LEVEL + FAULTS;
const DRIFT_MEDIAN: usize = DRIFT_SURPRISE + FAULTS;

/** Of a window that waits to be learnt. */
const WAITING_SCORE: usize = 0;
const WAITING_REQUESTS: usize = 8;
const WAITING_EXCESS: usize = 16;
const WAITING_SQUARES: usize = WAITING_EXCESS + FAULTS;

/** Constants, as they are given. */
const PEAK_SCORE: usize = 0;
const OVER_SHARE: usize = 8;
const LEAST_FALL: usize = 16;
const OVER_FALL: usize = 24;
const MOST_OF_USUAL: usize = 32;
const MEDIAN_OF_CHANCE: usize = 40;
const CALM: usize = 48;
const BLOCK_WINDOWS: usize = 56;
const NOISE_OF_BASELINE: usize = 64;
const DISPERSION_WINDOWS: usize = 72;
const PRIOR_WINDOWS: usize = 80;
const SURELY_MOVING: usize = 88;

let constants: usize = 0;

/** Takes an address that stays as it is. */
export function configure(constantsAt: usize): void {
  constants = constantsAt;
}

/** Adds a window to evidence; which fault there is most for, of two alike the later one. */
function add(evidence: usize, startMs: f64, requests: f64, said: usize): i32 {
  const zero = f64x2.splat(0);
  const start = f64x2.splat(startMs);
  const all = f64x2.splat(requests);
  let most = zero;
  for (let t: usize = 0; t < FAULTS; t += 16) {
    const at = evidence + t;
    const foretold = f64x2.mul(all, f64x2.pmax(zero, v128.load(at, DRIFT_LEVEL)));
    const beyond = f64x2.sub(v128.load(said + t, SAID_SUMS), foretold);
    const gain = f64x2.div(beyond, v128.load(at, RESTLESSNESS));
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
    most = f64x2.pmax(most, higher);
  }
  const peakScore = load<f64>(constants, PEAK_SCORE);
  if (f64x2.extract_lane(most, 0) > peakScore || f64x2.extract_lane(most, 1) > peakScore) {
    endWhatIsOver(evidence);
  }
  return mostOf(evidence);
}

/**
 * The same; and what is found of that fault is put behind what is said: in how many windows there is evidence for it, how
 * much, and how much less what the baseline's own noise may have made of it, over what restlessness.
 */
export function find(
  evidence: usize,
  weights: usize,
  counts: usize,
  quantiles: i32,
  windowMs: f64,
  startMs: f64,
  requests: f64,
  said: usize,
): i32 {
  const most = add(evidence, startMs, requests, said);
  const fault = evidence + ((<usize>most) << 3);
  const run = windowsSince(counts, load<f64>(fault, START), windowMs);
  const added = <usize>load<f64>(counts, ADDED);
  const width: usize = 8 + ((<usize>quantiles) << 5);
  const last = load<f64>(counts + ((added + kept - 1) % kept) * width, SUMS);
  const ofRun = last - load<f64>(counts + ((added + kept - run - 1) % kept) * width, SUMS);
  const noise =
    (load<f64>(constants, NOISE_OF_BASELINE) * ofRun) / load<f64>(weights, WEIGHED_REQUESTS);
  const sum = load<f64>(fault, SUM);
  store<f64>(said, <f64>run, FOUND_RUN);
  store<f64>(said, sum, FOUND_SUM);
  store<f64>(said, sum / (1 + noise), FOUND_SCORE);
  store<f64>(said, load<f64>(fault, RESTLESSNESS), FOUND_RESTLESSNESS);
  return most;
}

/** Windows from that time on, at least the last one and at most a run, that are not too far apart. */
function windowsSince(counts: usize, fromMs: f64, windowMs: f64): usize {
  const added = <usize>load<f64>(counts, ADDED);
  const most = min(added, kept - 1);
  let place = (added + kept - 1) % kept;
  const lastMs = load<f64>(counts + (place << 3));
  let windows: usize = 1;
  for (; windows < most; windows++) {
    place = place === 0 ? kept - 1 : place - 1;
    const startMs = load<f64>(counts + (place << 3));
    if (startMs < fromMs || lastMs - startMs > <f64>(2 * windows) * windowMs) break;
  }
  return windows;
}

/**
 * Evidence that has fallen far from where it was is of something that is over: it counts no more. If it was
 * the clearest, no more does what it left for other faults.
 */
function endWhatIsOver(evidence: usize): void {
  let clearest = evidence;
  for (let at = evidence + 8; at < evidence + FAULTS; at += 8) {
    if (load<f64>(at, HIGHEST) > load<f64>(clearest, HIGHEST)) clearest = at;
  }
  const isAllOver = isOver(clearest);
  for (let at = evidence; at < evidence + FAULTS; at += 8) {
    if (isAllOver || isOver(at)) store<f64>(at, 0, SUM);
  }
}

function isOver(fault: usize): bool {
  const highest = load<f64>(fault, HIGHEST);
  const share = load<f64>(constants, OVER_SHARE) * highest;
  const fallen = highest - load<f64>(constants, LEAST_FALL);
  const least = max(min(share, fallen), highest - load<f64>(constants, OVER_FALL));
  return highest > load<f64>(constants, PEAK_SCORE) && load<f64>(fault, SUM) < least;
}

function mostOf(evidence: usize): i32 {
  let most: usize = 0;
  let sum = load<f64>(evidence, SUM);
  for (let t: usize = 1; t < faults; t++) {
    const other = load<f64>(evidence + (t << 3), SUM);
    const isMore = other >= sum;
    most = isMore ? t : most;
    sum = isMore ? other : sum;
  }
  return <i32>most;
}

/** Keeps what a window says, to be learnt later. Where nothing can vary its square is not a number. */
export function keep(waiting: usize, score: f64, requests: f64, said: usize): void {
  store<f64>(waiting, score, WAITING_SCORE);
  store<f64>(waiting, requests, WAITING_REQUESTS);
  const zero = f64x2.splat(0);
  const none = f64x2.splat(NaN);
  for (let t: usize = 0; t < FAULTS; t += 16) {
    const excess = v128.load(said + t, SAID_EXCESS);
    const variance = v128.load(said + t, SAID_VARIANCES);
    const square = f64x2.div(f64x2.mul(excess, excess), variance);
    const varies = f64x2.gt(variance, zero);
    v128.store(waiting + t, excess, WAITING_EXCESS);
    v128.store(waiting + t, v128.bitselect(square, none, varies), WAITING_SQUARES);
  }
}

/**
 * Learns what waits, unless it has no requests: peaks fade, the dispersions move towards its squares, and its excess is
 * added to the block of the drift. What is left to do: 1 where that block is full, 2 where a peak goes on, which
 * is not done then.
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
  const mostOfUsual = v128.load64_splat(constants, MOST_OF_USUAL);
  let most = zero;
  for (let t: usize = 0; t < FAULTS; t += 16) {
    const at = evidence + t;
    const usual = v128.load(at, DISPERSION);
    const squares = v128.load(waiting + t, WAITING_SQUARES);
    const square = f64x2.pmin(squares, f64x2.mul(mostOfUsual, usual));
    const moved = f64x2.add(usual, f64x2.mul(by, f64x2.sub(square, usual)));
    const isNumber = f64x2.ge(square, zero);
    const dispersion = v128.bitselect(f64x2.pmax(one, moved), usual, isNumber);
    v128.store(at, dispersion, DISPERSION);
    v128.store(at, f64x2.mul(dispersion, v128.load(at, SPREAD)), RESTLESSNESS);
    most = f64x2.pmax(most, dispersion);
    const sum = f64x2.add(v128.load(at, DRIFT_SUM), v128.load(waiting + t, WAITING_EXCESS));
    v128.store(at, sum, DRIFT_SUM);
  }
  storeMostDispersion(evidence, most);
  store<f64>(evidence, load<f64>(evidence, DRIFT_REQUESTS) + requests, DRIFT_REQUESTS);
  const ofBlock = load<f64>(evidence, DRIFT_WINDOWS) + 1;
  store<f64>(evidence, ofBlock, DRIFT_WINDOWS);
  return ofBlock >= load<f64>(constants, BLOCK_WINDOWS) ? due | 1 : due;
}

/** What follows of dispersions, and of how much levels vary: that is kept, as it is the same until a block is full. */
export function renew(evidence: usize): void {
  const one = f64x2.splat(1);
  const still = f64x2.splat(stillOf(evidence));
  const chance = v128.load64_splat(constants, MEDIAN_OF_CHANCE);
  let most = f64x2.splat(0);
  for (let t: usize = 0; t < FAULTS; t += 16) {
    const at = evidence + t;
    const surprise = f64x2.div(v128.load(at, DRIFT_SURPRISE), chance);
    const spread = v128.bitselect(surprise, one, f64x2.gt(surprise, still));
    v128.store(at, spread, SPREAD);
    const dispersion = v128.load(at, DISPERSION);
    v128.store(at, f64x2.mul(dispersion, spread), RESTLESSNESS);
    most = f64x2.pmax(most, dispersion);
  }
  storeMostDispersion(evidence, most);
}

/** Up to how many times chance what the levels surprise by may be chance: less where one of them is sure to move. */
function stillOf(evidence: usize): f64 {
  let most = f64x2.splat(0);
  for (let t: usize = 0; t < FAULTS; t += 16) {
    most = f64x2.pmax(most, v128.load(evidence + t, DRIFT_MEDIAN));
  }
  const median = max(f64x2.extract_lane(most, 0), f64x2.extract_lane(most, 1));
  const calm = load<f64>(constants, CALM);
  const restlessness = max(calm, median / load<f64>(constants, MEDIAN_OF_CHANCE));
  const moving = min(1, load<f64>(constants, SURELY_MOVING) * (restlessness - calm));
  return calm - (calm - 1) * moving;
}

function storeMostDispersion(evidence: usize, most: v128): void {
  const widest = max(f64x2.extract_lane(most, 0), f64x2.extract_lane(most, 1));
  store<f64>(evidence, widest, MOST_DISPERSION);
}
