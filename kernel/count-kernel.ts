// What an event adds: each duration to its sketch and to its band. AssemblyScript: `npm run
// generate:kernel` compiles it to WebAssembly, into src/sketch/count-kernel-wasm.ts. What is met for the
// first time is asked of the host, who makes room: the kernel only adds.

/** Addresses and offsets: those of `layout` in src/sketch/count-kernel.ts, which says what lies there. */
const ids: usize = 1024;
const durations: usize = 2048;
const rowsOfBlock = 64;
const vectorsOfBlock: usize = 256;
const COLUMN: usize = 4;
const VALUES: usize = 8;
const REQUESTS: usize = 264;
const SUM: usize = 272;
const MIN: usize = 280;
const MAX: usize = 288;
const TABLE: usize = 296;
const blockValues = 32;
const columns = 16;
const tableEntries = 64;
/** Octave 1 begins at 2^-20 ms; octave 0 takes what is below, octave 63 what is above 2^42 ms. */
const octaveOffset = 1023 - 20 - 1;
const pageBuckets = 64;
const bucketBytes = 16;

/** Zeroed memory of the pool that is being added to. */
declare function take(bytes: i32): usize;
/** The slot of a stage of a block, which may be put among the block's rows. */
declare function slotOf(block: usize, stage: i32): usize;
/** The vector of a band of a block, put among the block's vectors. */
declare function vectorOf(block: usize, band: i32): usize;
/** An amount for a column that a vector does not have. */
declare function addFar(block: usize, band: i32, column: i32, amount: f64): void;

/**
 * Adds the durations of the first so many `ids`, which are stages, to their sketches, and to a band if it
 * is not -1; then the total likewise, which is a request in the band, and its milliseconds in column 0.
 */
export function count(block: usize, band: i32, stages: i32, total: i32, totalMs: f64): void {
  const vector = band < 0 ? 0 : bandOf(block, band);
  for (let i = 0; i < stages; i++) {
    const slot = rowOf(block, load<i32>(ids + ((<usize>i) << 2)));
    const ms = load<f64>(durations + ((<usize>i) << 3));
    add(slot, ms);
    if (vector !== 0) addTo(vector, block, band, load<i32>(slot, COLUMN), ms);
  }
  if (vector === 0) return;
  const slot = rowOf(block, total);
  add(slot, totalMs);
  addTo(vector, block, band, load<i32>(slot, COLUMN), 1);
  store<f64>(vector, load<f64>(vector) + totalMs);
}

/** Adds a duration to a slot: to those that wait, which go to their buckets 32 at a time. */
export function add(slot: usize, ms: f64): void {
  let waiting = load<i32>(slot);
  if (waiting === blockValues) {
    spill(slot);
    waiting = 0;
  }
  store<f64>(slot + ((<usize>waiting) << 3), ms, VALUES);
  store<i32>(slot, waiting + 1);
}

/** Moves the values that wait into their buckets. */
export function spill(slot: usize): void {
  let table: usize = load<u32>(slot, TABLE);
  if (table === 0) {
    table = take(tableEntries * 4);
    store<u32>(slot, <u32>table, TABLE);
  }
  const waiting = load<i32>(slot);
  // Of an odd number the last counts twice where that makes no difference: in the lowest and the highest.
  let two = f64x2.splat(load<f64>(slot + ((<usize>(waiting - 1)) << 3), VALUES));
  let least = two;
  let most = two;
  let sums = waiting & 1 ? f64x2.replace_lane(wholeUs(two), 1, 0) : f64x2.splat(0);
  for (let i = 0; i < (waiting & ~1); i += 2) {
    two = v128.load(slot + ((<usize>i) << 3), VALUES);
    sums = f64x2.add(sums, wholeUs(two));
    least = f64x2.pmin(least, two);
    most = f64x2.pmax(most, two);
  }
  for (let i = 0; i < waiting; i++) {
    const ms = load<f64>(slot + ((<usize>i) << 3), VALUES);
    // The sign is dropped with the bits above the octave: -0 counts as 0.
    const bits = <i32>((reinterpret<u64>(ms) << 1) >> 47);
    let octave = (bits >> 6) - octaveOffset;
    let bucket = bits & (pageBuckets - 1);
    if (<u32>(octave - 1) >= <u32>(tableEntries - 2)) {
      octave = octave < 1 ? 0 : tableEntries - 1;
      bucket = 0;
    }
    const entry = table + ((<usize>octave) << 2);
    let page: usize = load<u32>(entry);
    if (page === 0) {
      page = take(pageBuckets * bucketBytes);
      store<u32>(entry, <u32>page);
    }
    // Requests and milliseconds, side by side.
    const at = page + <usize>(bucket * bucketBytes);
    v128.store(at, f64x2.add(v128.load(at), f64x2.replace_lane(f64x2.splat(1), 1, ms)));
  }
  store<f64>(slot, load<f64>(slot, REQUESTS) + <f64>waiting, REQUESTS);
  store<f64>(slot, load<f64>(slot, SUM) + lane0(sums) + lane1(sums), SUM);
  store<f64>(slot, lower(load<f64>(slot, MIN), lower(lane0(least), lane1(least))), MIN);
  store<f64>(slot, higher(load<f64>(slot, MAX), higher(lane0(most), lane1(most))), MAX);
  store<i32>(slot, 0);
}

/** Adds an amount to a column of a band of a block. */
export function addToBand(block: usize, band: i32, column: i32, amount: f64): void {
  addTo(bandOf(block, band), block, band, column, amount);
}

function rowOf(block: usize, stage: i32): usize {
  if (stage >= rowsOfBlock) return slotOf(block, stage);
  const slot: usize = load<u32>(block + ((<usize>stage) << 2));
  return slot !== 0 ? slot : slotOf(block, stage);
}

function bandOf(block: usize, band: i32): usize {
  const vector: usize = load<u32>(block + ((<usize>band) << 2), vectorsOfBlock);
  return vector !== 0 ? vector : vectorOf(block, band);
}

function addTo(vector: usize, block: usize, band: i32, column: i32, amount: f64): void {
  if (column >= columns) {
    addFar(block, band, column, amount);
    return;
  }
  const at = vector + ((<usize>column) << 3);
  store<f64>(at, load<f64>(at) + amount);
}

/** As `wholeUs` in src/sketch/whole-us.ts, of two: `Math.round` without a branch. */
function wholeUs(two: v128): v128 {
  const us = f64x2.mul(two, f64x2.splat(1000));
  const near = f64x2.nearest(us);
  const isHalf = f64x2.eq(f64x2.sub(us, near), f64x2.splat(0.5));
  return f64x2.add(near, v128.and(isHalf, f64x2.splat(1)));
}

function lane0(two: v128): f64 {
  return f64x2.extract_lane(two, 0);
}

function lane1(two: v128): f64 {
  return f64x2.extract_lane(two, 1);
}

function lower(a: f64, b: f64): f64 {
  return select(b, a, b < a);
}

function higher(a: f64, b: f64): f64 {
  return select(b, a, b > a);
}
