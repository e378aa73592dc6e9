// Reads one event of a known shape, from bytes to numbers and ids, sixteen bytes at a time. AssemblyScript:
// `npm run generate:kernel` compiles it to WebAssembly, into src/decode/kernel/event-kernel-wasm.ts. It
// returns -1 for an event that it cannot read exactly, which the scanner in JavaScript then reads instead.

/** Addresses and sizes, defined by `layout` in src/decode/kernel/event-kernel.ts. */
const integers: usize = 64;
const dimensionIds: usize = 128;
const dimensionStarts: usize = 160;
const dimensionEnds: usize = 192;
const maxDurationMs: usize = 224;
const maxTextBytes: usize = 232;
const lexicon: usize = 236;
const statusWords: usize = 256;
const powersOfTen: usize = 512;
const numbers: usize = 704;
const stageIds: usize = 1024;
const stageMs: usize = 1536;
const entries: usize = 32768;
const input: usize = 163840;

/** Fields of `integers`. Those of flags are missing: the program gives their offsets. */
const status: usize = integers;
const stageCount: usize = integers + 12;
const pendingDimensions: usize = integers + 16;
const sawHighByte: usize = integers + 20;
const textTsStart: usize = integers + 24;
const textTsEnd: usize = integers + 28;
const labels: usize = integers + 32;
/** Follow the labels, and are cleared with the last of them. */
const objectStart: usize = integers + 48;
const objectEnd: usize = integers + 52;

const statusCount = 4;
/** Size of a pattern: 16 bytes of text, 16 of mask, and its length. */
const statusBytes = 48;

/** Kinds of values, as in src/decode/kernel/event-program.ts; 0 is the end. */
const STAGE = 1;
const NUMBER = 2;
const TOTAL = 3;
const TS = 4;
const DIMENSION = 5;
const LABEL = 6;
const STATUS = 7;
const FLAG = 8;
const UNKNOWN = 9;
const OBJECT = 10;

const QUOTE = 0x22;
const TRUE = 0x65757274;
const FALS = 0x736c6166;
const NULL = 0x6c6c756e;

/** Size of a dimension value's entry: length, id, lexicon, and from byte 16 on the text. */
const entryBytes = 64;
const longestEntry = 48;
const entryBits = 11;

/** Veltkamp's constant, 2^27 + 1: splits a double into two halves of 26 bits. */
const SPLITTER: f64 = 134217729;
/** Factor of 1 + 2^-40, which exceeds the relative error of the quotient's low part: at most 2^-50. */
const SAFETY: f64 = 1.0 + 1.0 / 1099511627776.0;

/** End address of the number read last, 0 if it is invalid or may be inexact. */
let numberEnd: usize = 0;
/** Nonzero if a string of this event has bytes beyond ASCII. */
let highBytes: i32 = 0;

/** Writes zeros behind an input of `length` bytes. */
export function close(length: i32): void {
  const end = input + length;
  store<v128>(end, i32x4.splat(0));
  store<v128>(end, i32x4.splat(0), 16);
  store<v128>(end, i32x4.splat(0), 32);
  store<v128>(end, i32x4.splat(0), 48);
}

/**
 * Reads the event at `start` of the input by the program at an address. Returns the position after it, or -1.
 * The zeros behind the input end every read: no value and no literal contains one.
 */
export function scan(start: i32, program: usize): i32 {
  let at: usize = input + start;
  let op = program;
  let stage: usize = 0;
  let pending = 0;
  highBytes = 0;
  store<v128>(dimensionIds, i32x4.splat(0));
  store<v128>(dimensionIds, i32x4.splat(0), 16);
  store<v128>(numbers, f64x2.splat(NaN));
  store<v128>(numbers, f64x2.splat(NaN), 16);
  store<v128>(numbers, f64x2.splat(NaN), 32);
  store<v128>(numbers, f64x2.splat(NaN), 48);
  store<v128>(numbers, f64x2.splat(NaN), 64);
  store<v128>(integers, i32x4(0, -1, 0, 0));
  store<v128>(textTsStart, i32x4(-1, -1, 0, 0));
  store<v128>(labels, i32x4.splat(0), 8);
  while (true) {
    const kind = <i32>load<u8>(op);
    const slot = <usize>load<u16>(op, 2);
    const length = <usize>load<u16>(op, 4);
    let blocks = load<u16>(op, 6);
    let literal = op + 16;
    let from = at;
    do {
      const differs = v128.xor(v128.load(from), v128.load(literal));
      if (v128.any_true(v128.and(differs, v128.load(literal, 16)))) return -1;
      from += 16;
      literal += 32;
    } while (--blocks > 0);
    at += length;
    op = literal;
    switch (kind) {
      case STAGE: {
        const ms = number(at);
        if (numberEnd === 0 || ms > load<f64>(maxDurationMs)) return -1;
        at = numberEnd;
        store<f64>(stageMs + (stage << 3), ms);
        store<i32>(stageIds + (stage << 2), <i32>slot);
        stage++;
        break;
      }
      case NUMBER: {
        const value = number(at);
        if (numberEnd === 0) return -1;
        at = numberEnd;
        store<f64>(numbers + (slot << 3), value);
        break;
      }
      case TOTAL: {
        const ms = number(at);
        if (numberEnd === 0 || ms > load<f64>(maxDurationMs)) return -1;
        at = numberEnd;
        store<f64>(numbers + (slot << 3), ms);
        break;
      }
      case TS: {
        if (load<u8>(at) === QUOTE) {
          const close = stringEnd(at + 1);
          if (close === 0) return -1;
          store<i32>(textTsStart, <i32>(at + 1 - input));
          store<i32>(textTsEnd, <i32>(close - input));
          at = close + 1;
        } else {
          const ms = number(at);
          if (numberEnd === 0) return -1;
          at = numberEnd;
          store<f64>(numbers + (slot << 3), ms);
        }
        break;
      }
      case DIMENSION: {
        if (load<u8>(at) !== QUOTE) return -1;
        const close = stringEnd(at + 1);
        if (close === 0 || close - at - 1 > <usize>load<i32>(maxTextBytes)) return -1;
        // An empty value counts as absent, whose id is 0.
        const id = close === at + 1 ? 0 : idOf(at + 1, close);
        store<i32>(dimensionIds + (slot << 2), id);
        if (id < 0) {
          pending |= 1 << (<i32>slot);
          store<i32>(dimensionStarts + (slot << 2), <i32>(at - input));
          store<i32>(dimensionEnds + (slot << 2), <i32>(close + 1 - input));
        }
        at = close + 1;
        break;
      }
      case LABEL: {
        if (load<u8>(at) !== QUOTE) return -1;
        const close = stringEnd(at + 1);
        if (close === 0 || close - at - 1 > <usize>load<i32>(maxTextBytes)) return -1;
        store<i32>(labels + (slot << 3), <i32>(at + 1 - input));
        store<i32>(labels + (slot << 3), <i32>(close - input), 4);
        at = close + 1;
        break;
      }
      case STATUS: {
        const word = v128.load(at);
        let found = 0;
        let entry = statusWords;
        for (; found < statusCount; found++) {
          const differs = v128.xor(word, v128.load(entry));
          if (!v128.any_true(v128.and(differs, v128.load(entry, 16)))) break;
          entry += statusBytes;
        }
        if (found === statusCount) return -1;
        store<i32>(status, found);
        at += load<i32>(entry, 32);
        break;
      }
      case FLAG: {
        const word = load<i32>(at);
        const isTrue = word === TRUE;
        if (!isTrue && (word !== FALS || load<u8>(at, 4) !== 0x65)) return -1;
        store<i32>(integers + slot, <i32>isTrue);
        at += isTrue ? 4 : 5;
        break;
      }
      case UNKNOWN: {
        at = plainValueEnd(at);
        if (at === 0) return -1;
        break;
      }
      case OBJECT: {
        store<i32>(objectStart, <i32>(at - input));
        at = flatObjectEnd(at);
        if (at === 0) return -1;
        store<i32>(objectEnd, <i32>(at - input));
        break;
      }
      default: {
        store<i32>(stageCount, <i32>stage);
        store<i32>(pendingDimensions, pending);
        store<i32>(sawHighByte, highBytes);
        return <i32>(at - input);
      }
    }
  }
}

/** Stores the value `[start, end)` of the input with its id, unless it is longer than an entry. */
export function learn(start: i32, end: i32, id: i32): void {
  const length = <usize>(end - start);
  if (<i32>length > longestEntry) return;
  const entry = entryOf(input + start, input + end);
  store<i32>(entry, <i32>length);
  store<i32>(entry, id, 4);
  store<i32>(entry, load<i32>(lexicon), 8);
  memory.copy(entry + 16, input + start, length);
}

/** Id of the value `[start, end)`, -1 if it is not stored. */
function idOf(start: usize, end: usize): i32 {
  const entry = entryOf(start, end);
  const length = end - start;
  if (<usize>load<i32>(entry) !== length || load<i32>(entry, 8) !== load<i32>(lexicon)) return -1;
  let from = start;
  let to = entry + 16;
  let left = <i32>length;
  const lanes = i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  for (; left > 0; left -= 16) {
    const differs = v128.xor(v128.load(from), v128.load(to));
    const within = i8x16.lt_s(lanes, i8x16.splat(<i8>left));
    if (v128.any_true(v128.and(differs, within))) return -1;
    from += 16;
    to += 16;
  }
  return load<i32>(entry, 4);
}

/** Address of a value's entry: a hash of its length and its first and last eight bytes. */
function entryOf(start: usize, end: usize): usize {
  const length = <u64>(end - start);
  let first = load<u64>(start);
  let last: u64 = 0;
  if (length < 8) first &= ((<u64>1) << (length << 3)) - 1;
  else last = load<u64>(end - 8);
  const mixed = (first ^ rotl<u64>(last, 29) ^ length) * 0x1e3779b97f4a7d;
  return entries + <usize>(mixed >> (64 - entryBits)) * entryBytes;
}

/** Address of a string's closing quote, 0 for a string with escapes; `at` is after the opening quote. */
function stringEnd(at: usize): usize {
  let from = at;
  while (true) {
    const chunk = v128.load(from);
    const special = i8x16.bitmask(
      v128.or(
        v128.or(i8x16.eq(chunk, i8x16.splat(<i8>QUOTE)), i8x16.eq(chunk, i8x16.splat(0x5c))),
        i8x16.lt_u(chunk, i8x16.splat(0x20)),
      ),
    );
    const high = i8x16.bitmask(chunk);
    if (special !== 0) {
      highBytes |= high & (special - 1) & ~special;
      const close = from + ctz(special);
      return load<u8>(close) === QUOTE ? close : 0;
    }
    highBytes |= high;
    from += 16;
  }
}

/** Address after an object of plain values, with at most one space behind a colon or comma; 0 for any other value. */
function flatObjectEnd(at: usize): usize {
  if (load<u8>(at) !== 0x7b) return 0;
  let from = at + 1;
  if (load<u8>(from) === 0x7d) return from + 1;
  while (true) {
    if (load<u8>(from) !== QUOTE) return 0;
    const close = stringEnd(from + 1);
    if (close === 0 || load<u8>(close, 1) !== 0x3a) return 0;
    from = close + 2;
    if (load<u8>(from) === 0x20) from++;
    from = plainValueEnd(from);
    if (from === 0) return 0;
    const delimiter = load<u8>(from++);
    if (delimiter === 0x7d) return from;
    if (delimiter !== 0x2c) return 0;
    if (load<u8>(from) === 0x20) from++;
  }
}

/** Address after a string without escapes, a number or a word; 0 for any other value. */
function plainValueEnd(at: usize): usize {
  const byte = load<u8>(at);
  if (byte === QUOTE) {
    const close = stringEnd(at + 1);
    return close === 0 ? 0 : close + 1;
  }
  const word = load<i32>(at);
  if (word === TRUE || word === NULL) return at + 4;
  if (word === FALS) return load<u8>(at, 4) === 0x65 ? at + 5 : 0;
  number(at);
  return numberEnd;
}

/**
 * Reads the number >= 0 at `at`: exactly the double of JSON.parse. Up to 15 digits move to the right end of
 * 16 lanes, without the point, and are added up in pairs. One correctly rounded division of exact doubles by
 * a power of ten follows (Clinger, "How to read floating point numbers accurately", 1990). The next literal
 * checks the byte after the number.
 */
function number(at: usize): f64 {
  const chunk = v128.load(at);
  const digits = i8x16.sub(chunk, i8x16.splat(0x30));
  // One bit for each byte that is not a digit, and one behind the last byte.
  const stops = i8x16.bitmask(i8x16.ge_u(digits, i8x16.splat(10))) | 0x10000;
  const whole = ctz(stops);
  const hasPoint = load<u8>(at + whole) === 0x2e;
  const length = hasPoint ? ctz(stops & (stops - 1)) : whole;
  if (length >= 16 || whole === 16) return longNumber(at);
  const fraction = hasPoint ? length - whole - 1 : 0;
  const isWrong =
    <i32>(whole === 0) |
    (<i32>hasPoint & <i32>(length === whole + 1)) |
    (<i32>(load<u8>(at) === 0x30) & <i32>(whole > 1));
  numberEnd = isWrong ? 0 : at + length;
  const lanes = i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const wanted = i8x16.add(lanes, i8x16.splat(<i8>(length - 16)));
  // Digits before the point move by one more lane; lanes of negative indices become 0.
  const before = i8x16.le_s(wanted, i8x16.splat(<i8>(hasPoint ? whole : -1)));
  const aligned = i8x16.swizzle(digits, i8x16.add(wanted, before));
  const tens = v128.and(aligned, i16x8.splat(0xff));
  const ones = i16x8.shr_u(aligned, 8);
  const pairs = i16x8.add(i16x8.mul(tens, i16x8.splat(10)), ones);
  const fours = i32x4.dot_i16x8_s(pairs, i16x8(100, 1, 100, 1, 100, 1, 100, 1));
  const packed = i16x8.narrow_i32x4_s(fours, fours);
  const eights = i32x4.dot_i16x8_s(packed, i16x8(10000, 1, 10000, 1, 10000, 1, 10000, 1));
  const both = i64x2.extract_lane(eights, 0);
  const mantissa = (both & 0xffffffff) * 100000000 + (both >> 32);
  return <f64>mantissa / load<f64>(powersOfTen + ((<usize>fraction) << 3));
}

/**
 * Reads a number of up to 19 digits, as encoders of shortest round-trip numbers write them. Beyond 15 digits
 * the mantissa is a sum of two doubles, divided in that arithmetic (Dekker, "A floating-point technique for
 * extending the available precision", 1971). The number is refused where an error could change the rounding.
 */
function longNumber(start: usize): f64 {
  numberEnd = 0;
  let mantissa: u64 = 0;
  let count = 0;
  let point: usize = 0;
  let at = start;
  for (; ; at++) {
    const digit = <u32>load<u8>(at) ^ 0x30;
    if (digit <= 9) {
      mantissa = mantissa * 10 + digit;
      if (mantissa !== 0 && ++count > 19) return 0;
    } else if (digit === 0x1e && point === 0) {
      point = at;
    } else {
      break;
    }
  }
  const whole = (point === 0 ? at : point) - start;
  const fraction: usize = point === 0 ? 0 : at - point - 1;
  if (whole === 0 || (point !== 0 && fraction === 0) || fraction > 22) return 0;
  if (whole > 1 && load<u8>(start) === 0x30) return 0;
  const value = quotient(mantissa, load<f64>(powersOfTen + (fraction << 3)));
  if (value >= 0) numberEnd = at;
  return value;
}

/** Quotient of mantissa and divisor, correctly rounded, or NaN where the rounding is uncertain. */
function quotient(mantissa: u64, divisor: f64): f64 {
  if (mantissa <= 0x1fffffffffffff) return <f64>mantissa / divisor;
  const high = <f64>(mantissa & ~(<u64>0x3ffffff));
  const low = <f64>(mantissa & 0x3ffffff);
  const m = high + low;
  const mRest = low - (m - high);
  const q = m / divisor;
  // Dekker's product gives the exact remainder m - q * divisor.
  const product = q * divisor;
  const qHigh = upperHalf(q);
  const qLow = q - qHigh;
  const dHigh = upperHalf(divisor);
  const dLow = divisor - dHigh;
  const productRest = qLow * dLow - (product - qHigh * dHigh - qLow * dHigh - qHigh * dLow);
  const rest = (m - product - productRest + mRest) / divisor;
  const sum = q + rest;
  const error = rest - (sum - q);
  return sum + error * SAFETY === sum ? sum : NaN;
}

function upperHalf(value: f64): f64 {
  const scaled = value * SPLITTER;
  return scaled - (scaled - value);
}
