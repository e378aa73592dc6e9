import { limits } from '../../base/limits.ts';
import { exactDecimal, powersOfTen } from './exact-decimal.ts';
import type { Pattern } from './pattern.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** A point and an `e` (or `E`, in lower case), less the bits of a digit. */
const POINT = 0x2e ^ 0x30;
const EXPONENT = (0x65 ^ 0x30) | 0x20;
const HIGH_BITS = 0x80808080 | 0;

/** Class of a byte within a string: 0 plain, 1 beyond ASCII, 2 special. */
const stringClass = new Uint8Array(256).map((_, byte) => {
  if (byte >= 0x80) return 1;
  return byte < 0x20 || byte === QUOTE || byte === BACKSLASH ? 2 : 0;
});

/**
 * Reads JSON (RFC 8259) straight from bytes, without strings or objects. Each method is given the position of
 * a value and returns the position after it. It returns -1 for anything but plain, valid JSON, which the
 * caller leaves to JSON.parse.
 */
export class JsonScanner {
  /** Last number read by `number`, in a typed array, as a field of doubles may be boxed. */
  readonly value = new Float64Array(1);
  /** True once a string with bytes beyond ASCII was read, until reset. */
  sawHighByte = false;

  /**
   * View of the memory of the message, for reading four bytes at once. Messages of one fetch share it, so a
   * view is made per fetch; the last one stays alive.
   */
  #view = new DataView<ArrayBufferLike>(new ArrayBuffer(0));
  #base = 0;

  /** Begins a message, from which `matches` reads. */
  begin(message: Buffer): void {
    if (this.#view.buffer !== message.buffer) this.#view = new DataView(message.buffer);
    this.#base = message.byteOffset;
  }

  /** Returns true if the message has the pattern at `pos`. Needs four bytes before `end`. */
  matches(pattern: Pattern, pos: number, end: number): boolean {
    const view = this.#view;
    const offset = this.#base + pos;
    if (end - pos < 4 || end - pos < pattern.length) return false;
    const last = view.getInt32(offset + pattern.lastOffset, true);
    if (((last ^ pattern.last) & pattern.lastMask) !== 0) return false;
    const { words, wordCount } = pattern;
    for (let i = 0; i < wordCount; i++) {
      if (view.getInt32(offset + i * 4, true) !== words[i]) return false;
    }
    return true;
  }

  /** Four bytes at `pos`, little endian. They must be within the message. */
  word32(pos: number): number {
    return this.#view.getInt32(this.#base + pos, true);
  }

  /** Position of the closing quote of a string without escapes; `pos` is after the opening one. */
  plainString(bytes: Buffer, pos: number, end: number): number {
    let i = pos;
    // Four plain bytes at a time: a borrow into a byte's top bit shows a quote, a backslash or a control
    // character (Mycroft's test, 1987). It may find one too many, never one too few.
    for (const last = end - 4; i <= last; i += 4) {
      const word = this.#view.getInt32(this.#base + i, true);
      const quote = word ^ 0x22222222;
      const backslash = word ^ 0x5c5c5c5c;
      const special =
        ((quote - 0x01010101) & ~quote) |
        ((backslash - 0x01010101) & ~backslash) |
        ((word - 0x20202020) & ~word) |
        word;
      if ((special & HIGH_BITS) !== 0) break;
    }
    for (; i < end; i++) {
      const kind = stringClass[bytes[i] as number] as number;
      if (kind === 0) continue;
      if (kind === 1) this.sawHighByte = true;
      else return bytes[i] === QUOTE ? i : -1;
    }
    return -1;
  }

  /**
   * Reads a number >= 0 to `value`: exactly the double of JSON.parse. Up to 15 digits and a power of ten up
   * to 22 need one correctly rounded operation on exact doubles. Source: Clinger, "How to read floating point
   * numbers accurately", 1990.
   */
  number(bytes: Buffer, pos: number, end: number): number {
    if (end - pos < 8) return this.#longNumber(bytes, pos, end);
    // Eight bytes at once: their digits fit an int32, whose arithmetic is several times faster than that of
    // doubles.
    const view = this.#view;
    let word = view.getInt32(this.#base + pos, true);
    let mantissa = (word & 0xff) ^ 0x30;
    if (mantissa > 9) return -1;
    let i = 1;
    let digit = 0;
    let point = 0;
    for (; i < 8; i++) {
      word = i === 4 ? view.getInt32(this.#base + pos + 4, true) : word >>> 8;
      digit = (word & 0xff) ^ 0x30;
      if (digit <= 9) mantissa = (Math.imul(mantissa, 10) + digit) | 0;
      else if (digit === POINT && point === 0) point = i;
      else break;
    }
    if (i === 8 && point === 0) return this.#longInteger(bytes, pos, end, mantissa);
    // Longer numbers, exponents and misplaced points.
    if (i === 8 || (digit | 0x20) === EXPONENT || digit === POINT) {
      return this.#longNumber(bytes, pos, end);
    }
    const wholeCount = point === 0 ? i : point;
    if (wholeCount > 1 && bytes[pos] === 0x30) return -1;
    if (point === 0) {
      this.value[0] = mantissa;
    } else {
      const fractionCount = i - point - 1;
      if (fractionCount === 0) return -1;
      this.value[0] = mantissa / (powersOfTen[fractionCount] as number);
    }
    return pos + i;
  }

  /** Reads an integer of 8 to 15 digits, such as epoch milliseconds; `head` is its first eight. */
  #longInteger(bytes: Buffer, pos: number, end: number, head: number): number {
    const rest = pos + 8;
    let tail = 0;
    let i = rest;
    const last = Math.min(end, rest + 7);
    for (; i < last; i++) {
      const digit = (bytes[i] as number) ^ 0x30;
      if (digit > 9) break;
      tail = (Math.imul(tail, 10) + digit) | 0;
    }
    const next = i < end ? (bytes[i] as number) : 0;
    const isLonger = (next ^ 0x30) <= 9 || next === 0x2e || (next | 0x20) === 0x65;
    if (isLonger || bytes[pos] === 0x30) {
      return this.#longNumber(bytes, pos, end);
    }
    this.value[0] = head * (powersOfTen[i - rest] as number) + tail;
    return i;
  }

  /** Reads numbers that are long, have an exponent, or are at the message's end. */
  #longNumber(bytes: Buffer, pos: number, end: number): number {
    if (bytes[pos] === 0x2d) return -1;
    const after = this.#skipNumber(bytes, pos, end);
    if (after >= 0) this.value[0] = exactDecimal(bytes, pos, after);
    return after;
  }

  /** Position after a value of any kind; `depth` is the nesting of a container here. */
  skipValue(bytes: Buffer, pos: number, end: number, depth: number): number {
    if (pos >= end) return -1;
    const byte = bytes[pos] as number;
    if (byte === QUOTE) return this.#skipString(bytes, pos + 1, end);
    if (byte === 0x7b || byte === 0x5b) {
      if (depth > limits.nestingDepth) return -1;
      return this.#skipContainer(bytes, pos, end, depth);
    }
    if (byte === 0x74) return this.word(bytes, pos, end, trueWord);
    if (byte === 0x66) return this.word(bytes, pos, end, falseWord);
    if (byte === 0x6e) return this.word(bytes, pos, end, nullWord);
    return this.#skipNumber(bytes, pos, end);
  }

  /** Position after `word`, or -1 if it is not at `pos`. */
  word(bytes: Buffer, pos: number, end: number, word: Buffer): number {
    const length = word.length;
    if (end - pos < length) return -1;
    for (let i = 0; i < length; i++) {
      if (bytes[pos + i] !== word[i]) return -1;
    }
    return pos + length;
  }

  #skipNumber(bytes: Buffer, pos: number, end: number): number {
    let i = pos;
    if (bytes[i] === 0x2d) i++;
    const whole = i;
    i = afterDigits(bytes, i, end);
    if (i === whole || (i > whole + 1 && bytes[whole] === 0x30)) return -1;
    if (i < end && bytes[i] === 0x2e) {
      const fraction = i + 1;
      i = afterDigits(bytes, fraction, end);
      if (i === fraction) return -1;
    }
    if (i < end && ((bytes[i] as number) | 0x20) === 0x65) {
      i++;
      if (i < end && (bytes[i] === 0x2b || bytes[i] === 0x2d)) i++;
      const power = i;
      i = afterDigits(bytes, power, end);
      if (i === power) return -1;
    }
    return i;
  }

  /** Checks escapes without decoding them. */
  #skipString(bytes: Buffer, pos: number, end: number): number {
    let i = pos;
    while (i < end) {
      const byte = bytes[i] as number;
      const kind = stringClass[byte] as number;
      if (kind === 1) this.sawHighByte = true;
      if (kind !== 2) {
        i++;
      } else if (byte === BACKSLASH) {
        i = afterEscape(bytes, i + 1, end);
        if (i < 0) return -1;
      } else {
        return byte === QUOTE ? i + 1 : -1;
      }
    }
    return -1;
  }

  /** Recurses at most `limits.nestingDepth` deep. */
  #skipContainer(bytes: Buffer, pos: number, end: number, depth: number): number {
    const isObject = bytes[pos] === 0x7b;
    const close = isObject ? 0x7d : 0x5d;
    let i = afterSpace(bytes, pos + 1, end);
    if (i < end && bytes[i] === close) return i + 1;
    for (;;) {
      if (isObject) {
        if (i >= end || bytes[i] !== QUOTE) return -1;
        i = this.#skipString(bytes, i + 1, end);
        if (i < 0) return -1;
        i = afterSpace(bytes, i, end);
        if (i >= end || bytes[i] !== 0x3a) return -1;
        i = afterSpace(bytes, i + 1, end);
      }
      i = this.skipValue(bytes, i, end, depth + 1);
      if (i < 0) return -1;
      i = afterSpace(bytes, i, end);
      if (i >= end) return -1;
      if (bytes[i] === close) return i + 1;
      if (bytes[i] !== 0x2c) return -1;
      i = afterSpace(bytes, i + 1, end);
    }
  }
}

const trueWord = Buffer.from('true');
const falseWord = Buffer.from('false');
const nullWord = Buffer.from('null');

/** Position of the first byte from `pos` on that is not white space, or `end`. */
export function afterSpace(bytes: Buffer, pos: number, end: number): number {
  let i = pos;
  for (; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break;
  }
  return i;
}

function afterDigits(bytes: Buffer, pos: number, end: number): number {
  let i = pos;
  while (i < end && ((bytes[i] as number) ^ 0x30) <= 9) i++;
  return i;
}

/** Position after an escape, whose backslash is before `pos`; -1 for an invalid one. */
function afterEscape(bytes: Buffer, pos: number, end: number): number {
  if (pos >= end) return -1;
  switch (bytes[pos]) {
    case QUOTE:
    case BACKSLASH:
    case 0x2f:
    case 0x62:
    case 0x66:
    case 0x6e:
    case 0x72:
    case 0x74:
      return pos + 1;
    case 0x75:
      break;
    default:
      return -1;
  }
  if (end - pos < 5) return -1;
  for (let i = pos + 1; i < pos + 5; i++) {
    const byte = bytes[i] as number;
    const letter = byte | 0x20;
    if ((byte ^ 0x30) > 9 && (letter < 0x61 || letter > 0x66)) return -1;
  }
  return pos + 5;
}
