// Adds the durations of an event to their sketches and to its band. AssemblyScript: `npm run generate:kernel`
// compiles it to WebAssembly, into src/sketch/count-kernel-wasm.ts. The host allocates structures on first
// use; the kernel only adds.

/** Addresses and offsets, defined by `layout` in src/sketch/count-kernel.ts. */
const ids: usize = 1024;
const durations: usize = 2048;
const rowsOfBlock = 16;
const rowsOfTable = 48;
const PAGES: usize = 64;
const ROWS: usize = 116;
const pageBands = 16;
const wideBytes = 320;
const fewValues = 7;
const CAPACITY: usize = 2;
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
/** Octave 1 begins at 2^-20 ms. Octave 0 holds shorter durations, octave 63 those from 2^42 ms on. */
const octaveOffset = 1023 - 20 - 1;
const pageBuckets = 64;
const bucketBytes = 16;

/** Allocates zeroed memory for the caller's pool. */
declare function take(bytes: i32): usize;
/** Returns the slot of a block's stage, and may store it in the block's rows. */
declare function slotOf(block: usize, stage: i32): usize;
/** Allocates the vector of a block's band, and stores it in the block. */
declare function vectorOf(block: usize, band: i32): usize;
/** Adds to a column beyond those of a vector. */
declare function addFar(block: usize, band: i32, column: i32, amount: f64): void;

/**
 * Adds the first `stages` durations to the sketches of the stages in `ids`, and to the columns of a band.
 * Then it adds the total to its sketch, 1 to the total's column, and its milliseconds to column 0. Band -1
 * stands for an event without a total: only the sketches of its stages change.
 */
export function count(block: usize, band: i32, stages: i32, total: i32, totalMs: f64): void {
  const vector = band < 0 ? 0 : bandOf(block, band);
  for (let i = 0; i < stages; i++) {
    const ms = load<f64>(durations + ((<usize>i) << 3));
    const column = addTo(block, load<i32>(ids + ((<usize>i) << 2)), ms);
    if (vector !== 0) addToColumn(vector, block, band, column, ms);
  }
  if (vector === 0) return;
  addToColumn(vector, block, band, addTo(block, total, totalMs), 1);
  store<f64>(vector, load<f64>(vector) + totalMs);
}

/** Does as `count` does `times` times: for an event that stands for so many requests. */
export function countMany(
  block: usize,
  band: i32,
  stages: i32,
  total: i32,
  totalMs: f64,
  times: i32,
): void {
  const vector = band < 0 ? 0 : bandOf(block, band);
  for (let i = 0; i < stages; i++) {
    const ms = load<f64>(durations + ((<usize>i) << 3));
    const column = addManyTo(block, load<i32>(ids + ((<usize>i) << 2)), ms, times);
    if (vector !== 0) addToColumn(vector, block, band, column, ms * <f64>times);
  }
  if (vector === 0) return;
  const column = addManyTo(block, total, totalMs, times);
  addToColumn(vector, block, band, column, <f64>times);
  store<f64>(vector, load<f64>(vector) + totalMs * <f64>times);
}

/**
 * Adds a duration so many times. In a slot without buckets yet those up to the room of two wide slots are
 * added one by one: then it has buckets. The others go to the bucket of this duration at once.
 */
function addManyTo(block: usize, stage: i32, ms: f64, times: i32): i32 {
  let slot = wideOf(rowOf(block, stage));
  let oneByOne = 0;
  if (!hasBuckets(slot)) {
    oneByOne = min(times, 2 * blockValues);
    for (let i = 0; i < oneByOne; i++) addTo(block, stage, ms);
    slot = wideOf(rowOf(block, stage));
  }
  const column = load<i32>(slot, COLUMN);
  if (times === oneByOne) return column;
  const rest = <f64>(times - oneByOne);
  const address = bucketOf(load<u32>(slot, TABLE), ms);
  store<f64>(address, load<f64>(address) + rest);
  store<f64>(address, load<f64>(address, 8) + rest * ms, 8);
  store<f64>(slot, load<f64>(slot, REQUESTS) + rest, REQUESTS);
  const us = lane0(wholeUs(f64x2.splat(ms)));
  store<f64>(slot, load<f64>(slot, SUM) + rest * us, SUM);
  store<f64>(slot, lower(load<f64>(slot, MIN), ms), MIN);
  store<f64>(slot, higher(load<f64>(slot, MAX), ms), MAX);
  return column;
}

/** The wide slot that has replaced a slot, or the slot itself. */
function wideOf(slot: usize): usize {
  return load<u16>(slot, CAPACITY) === 0 ? load<u32>(slot, VALUES) : slot;
}

function hasBuckets(slot: usize): bool {
  return load<u16>(slot, CAPACITY) === blockValues && load<u32>(slot, TABLE) !== 0;
}

/** Adds a duration to the sketch of a block's stage; returns the stage's column. */
function addTo(block: usize, stage: i32, ms: f64): i32 {
  let slot = rowOf(block, stage);
  if (isFull(slot)) {
    slot = withRoom(slot);
    if (stage < rowsOfBlock) store<u32>(block + ((<usize>stage) << 2), <u32>slot);
  }
  push(slot, ms);
  return load<i32>(slot, COLUMN);
}

/** Adds a duration to a slot. */
export function add(slot: usize, ms: f64): void {
  push(isFull(slot) ? withRoom(slot) : slot, ms);
}

function push(slot: usize, ms: f64): void {
  const waiting = load<u16>(slot);
  store<f64>(slot + ((<usize>waiting) << 3), ms, VALUES);
  store<u16>(slot, waiting + 1);
}

/** A slot that was replaced by a wide one has room for no value, and counts as full too. */
function isFull(slot: usize): bool {
  return load<u16>(slot) === load<u16>(slot, CAPACITY);
}

/** Makes room in a full slot: replaces it by a wide one, or moves the values of a wide one to buckets. */
function withRoom(full: usize): usize {
  let slot = full;
  if (load<u16>(slot, CAPACITY) === fewValues) return widen(slot);
  if (load<u16>(slot, CAPACITY) === 0) slot = load<u32>(slot, VALUES);
  if (isFull(slot)) spill(slot);
  return slot;
}

/** Copies a slot to a wide one, whose address takes the place of its values. */
function widen(slot: usize): usize {
  const wide = take(wideBytes);
  memory.copy(wide, slot, VALUES + fewValues * 8);
  store<u16>(wide, blockValues, CAPACITY);
  store<f64>(wide, Infinity, MIN);
  store<f64>(wide, -Infinity, MAX);
  store<u32>(slot, 0);
  store<u32>(slot, <u32>wide, VALUES);
  return wide;
}

/** Moves the waiting values of a wide slot into their buckets. */
export function spill(slot: usize): void {
  let table: usize = load<u32>(slot, TABLE);
  if (table === 0) {
    table = take(tableEntries * 4);
    store<u32>(slot, <u32>table, TABLE);
  }
  const waiting = <i32>load<u16>(slot);
  // The last value initializes both lanes of the extremes. It is summed here only if the count is odd.
  let two = f64x2.splat(load<f64>(slot + ((<usize>(waiting - 1)) << 3), VALUES));
  let lowest = two;
  let highest = two;
  let sums = waiting & 1 ? f64x2.replace_lane(wholeUs(two), 1, 0) : f64x2.splat(0);
  for (let i = 0; i < (waiting & ~1); i += 2) {
    two = v128.load(slot + ((<usize>i) << 3), VALUES);
    sums = f64x2.add(sums, wholeUs(two));
    lowest = f64x2.pmin(lowest, two);
    highest = f64x2.pmax(highest, two);
  }
  for (let i = 0; i < waiting; i++) {
    const ms = load<f64>(slot + ((<usize>i) << 3), VALUES);
    // A bucket holds requests and milliseconds, side by side.
    const address = bucketOf(table, ms);
    v128.store(address, f64x2.add(v128.load(address), f64x2.replace_lane(f64x2.splat(1), 1, ms)));
  }
  store<f64>(slot, load<f64>(slot, REQUESTS) + <f64>waiting, REQUESTS);
  store<f64>(slot, load<f64>(slot, SUM) + lane0(sums) + lane1(sums), SUM);
  store<f64>(slot, lower(load<f64>(slot, MIN), lower(lane0(lowest), lane1(lowest))), MIN);
  store<f64>(slot, higher(load<f64>(slot, MAX), higher(lane0(highest), lane1(highest))), MAX);
  store<u16>(slot, 0);
}

/** Returns the address of a duration's bucket. */
function bucketOf(table: usize, ms: f64): usize {
  // The shift drops the sign, so that -0 counts as 0.
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
  return page + <usize>(bucket * bucketBytes);
}

/** Adds an amount to one column of a block's band. */
export function addToBand(block: usize, band: i32, column: i32, amount: f64): void {
  addToColumn(bandOf(block, band), block, band, column, amount);
}

function rowOf(block: usize, stage: i32): usize {
  let row = block;
  if (stage >= rowsOfBlock) {
    const table: usize = load<u32>(block, ROWS);
    if (table === 0 || stage >= rowsOfBlock + rowsOfTable) return slotOf(block, stage);
    row = table - rowsOfBlock * 4;
  }
  const slot: usize = load<u32>(row + ((<usize>stage) << 2));
  return slot !== 0 ? slot : slotOf(block, stage);
}

function bandOf(block: usize, band: i32): usize {
  const page: usize = load<u32>(block + ((<usize>(band >> 4)) << 2), PAGES);
  if (page === 0) return vectorOf(block, band);
  const vector: usize = load<u32>(page + ((<usize>(band & (pageBands - 1))) << 2));
  return vector !== 0 ? vector : vectorOf(block, band);
}

function addToColumn(vector: usize, block: usize, band: i32, column: i32, amount: f64): void {
  if (column >= columns) {
    addFar(block, band, column, amount);
    return;
  }
  const address = vector + ((<usize>column) << 3);
  store<f64>(address, load<f64>(address) + amount);
}

/** Rounds two durations to whole microseconds as `wholeUs` in src/sketch/whole-us.ts, without a branch. */
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
