import { limits } from '../../base/limits.ts';
import { msOfNs, nsBeyondMs } from '../span.ts';
import { KeyTable } from './key-table.ts';
import type { MessageView } from './message-view.ts';

/** Kinds of a value that was found; `none` also stands for a list, a map or bytes. */
export const valueKinds = { none: 0, text: 1, bool: 2, number: 3 } as const;

/** Tags of the fields of a KeyValue. */
const KEY = 0x0a;
const VALUE = 0x12;
/** Index for an attribute that no rule asks for. */
const IGNORED = -1;
/** Attributes of a span whose keys are guessed. */
const MAX_GUESSES = 64;
const MAX_STAMP = (1 << 29) - 1;

/**
 * Reads one span from bytes, in one pass and without allocation: where its name and the attributes stand that
 * rules ask for, its times, its status. Everything in it is checked as `otlpSpan` checks it. At anything
 * unlike what writers write, `scan` returns false, and `otlpSpan` reads the span, so the two cannot differ.
 */
export class SpanScanner {
  readonly #keys: KeyTable;
  readonly #eventNames: KeyTable;
  readonly #exception: number;
  readonly #message: MessageView;
  #view = new DataView<ArrayBufferLike>(new ArrayBuffer(0));
  #base = 0;
  /** Number of the span. Values of another span do not count, so nothing is cleared. */
  #stamp = 0;
  /** Stamp and kind of each key's value. */
  readonly #kinds: Int32Array;
  /** Ranges of texts, by key. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  /** Numbers, and 0 or 1 of booleans, by key. */
  readonly numbers: Float64Array;
  /** Stamp and earliest time of the events of each name: milliseconds, nanoseconds beyond. */
  readonly #eventStamps: Int32Array;
  readonly eventTimes: Float64Array;
  /** Start and end: milliseconds since the epoch, nanoseconds beyond. */
  readonly times = new Float64Array(4);
  hasStart = false;
  hasEnd = false;
  /** True if the trace state may say how many requests the span stands for. */
  isSampled = false;
  hasException = false;
  statusCode = 0;
  nameStart = 0;
  nameEnd = 0;
  traceStart = 0;
  traceEnd = 0;
  /** Start of the value whose end `#rangeEnd` has returned. */
  #valueStart = 0;
  /** Attributes and events so far. */
  #parts = 0;

  /**
   * Key of each attribute of the last span by its place. Spans of one kind have the same keys in the same
   * order, so the key there is compared first.
   */
  readonly #guesses = new Int32Array(MAX_GUESSES).fill(IGNORED);
  #place = 0;

  /** @param exception index of the name of events with an exception. */
  constructor(
    message: MessageView,
    keys: readonly string[],
    eventNames: readonly string[],
    exception: number,
  ) {
    this.#message = message;
    this.#keys = new KeyTable(keys);
    this.#eventNames = new KeyTable(eventNames);
    this.#exception = exception;
    this.#kinds = new Int32Array(keys.length);
    this.starts = new Int32Array(keys.length);
    this.ends = new Int32Array(keys.length);
    this.numbers = new Float64Array(keys.length);
    this.#eventStamps = new Int32Array(eventNames.length);
    this.eventTimes = new Float64Array(eventNames.length * 2);
  }

  /** Begins the message whose view is set, of which `scan` reads the spans. */
  begin(): void {
    this.#view = this.#message.view;
    this.#base = this.#message.base;
  }

  /** Kind of the value of a key in this span. */
  kindOf(key: number): number {
    const kind = this.#kinds[key] as number;
    return kind >> 2 === this.#stamp ? kind & 3 : valueKinds.none;
  }

  /** True if the span has events of this name, with a time. */
  hasEvent(name: number): boolean {
    return this.#eventStamps[name] === this.#stamp;
  }

  /** Reads the span at `[start, end)` of the message; false if `otlpSpan` has to. */
  scan(bytes: Buffer, start: number, end: number): boolean {
    this.#reset();
    const { times } = this;
    let pos = start;
    while (pos < end) {
      const tag = bytes[pos++] as number;
      switch (tag) {
        case 0x4a: {
          const after = this.#rangeEnd(bytes, pos, end);
          if (after < 0 || !this.#attribute(bytes, this.#valueStart, after, true)) return false;
          pos = after;
          break;
        }
        case 0x39:
        case 0x41: {
          if (end - pos < 8) return false;
          const at = tag === 0x39 ? 0 : 2;
          const low = this.#view.getInt32(this.#base + pos, true);
          const high = this.#view.getInt32(this.#base + pos + 4, true);
          times[at] = msOfNs(low, high);
          times[at + 1] = nsBeyondMs(low, high);
          if (at === 0) this.hasStart = (low | high) !== 0;
          else this.hasEnd = (low | high) !== 0;
          pos += 8;
          break;
        }
        case 0x0a:
        case 0x12:
        case 0x1a:
        case 0x22:
        case 0x2a:
        case 0x6a: {
          const after = this.#rangeEnd(bytes, pos, end);
          if (after < 0) return false;
          pos = after;
          if (tag === 0x0a) {
            this.traceStart = this.#valueStart;
            this.traceEnd = after;
          } else if (tag === 0x2a) {
            this.nameStart = this.#valueStart;
            this.nameEnd = after;
          } else if (tag === 0x1a) {
            this.isSampled = bytes.toString('latin1', this.#valueStart, after).includes('ot=');
          }
          break;
        }
        case 0x5a: {
          const after = this.#rangeEnd(bytes, pos, end);
          if (after < 0 || !this.#event(bytes, this.#valueStart, after)) return false;
          pos = after;
          break;
        }
        case 0x7a: {
          const after = this.#rangeEnd(bytes, pos, end);
          if (after < 0 || !this.#status(bytes, this.#valueStart, after)) return false;
          pos = after;
          break;
        }
        // Kind and the counts of what was dropped.
        case 0x30:
        case 0x50:
        case 0x60:
        case 0x70:
          if (pos >= end || (bytes[pos] as number) >= 0x80) return false;
          pos++;
          break;
        // Flags, of field 16.
        case 0x85:
          if (end - pos < 5 || bytes[pos] !== 1) return false;
          pos += 5;
          break;
        default:
          return false;
      }
    }
    return true;
  }

  #reset(): void {
    if (++this.#stamp > MAX_STAMP) {
      this.#stamp = 1;
      this.#kinds.fill(0);
      this.#eventStamps.fill(0);
    }
    this.#place = 0;
    this.#parts = 0;
    this.hasStart = false;
    this.hasEnd = false;
    this.hasException = false;
    this.isSampled = false;
    this.statusCode = 0;
    this.nameStart = 0;
    this.nameEnd = 0;
    this.traceStart = 0;
    this.traceEnd = 0;
  }

  /** Returns the end of the length-delimited value whose length stands at `pos`, or -1. */
  #rangeEnd(bytes: Buffer, pos: number, end: number): number {
    if (pos >= end) return -1;
    let at = pos + 1;
    let length = bytes[pos] as number;
    if (length >= 0x80) {
      if (end - at < 2) return -1;
      const second = bytes[at++] as number;
      length = (length & 0x7f) | ((second & 0x7f) << 7);
      if (second >= 0x80) {
        const third = bytes[at++] as number;
        length |= (third & 0x7f) << 14;
        if (third >= 0x80) {
          const fourth = bytes[at++] as number;
          if (at > end || fourth >= 0x80) return -1;
          length |= fourth << 21;
        }
      }
    }
    this.#valueStart = at;
    return length > end - at ? -1 : at + length;
  }

  /** Reads a KeyValue, and keeps its value if it is `isKept` and asked for; false in doubt. */
  #attribute(bytes: Buffer, start: number, end: number, isKept: boolean): boolean {
    if (++this.#parts > limits.spanParts) return false;
    // Nearly all have a short key and a short value, in either order.
    const middle = start + 2 + (bytes[start + 1] as number);
    if (middle + 2 > end || middle + 2 + (bytes[middle + 1] as number) !== end) {
      return this.#longAttribute(bytes, start, end, isKept);
    }
    const first = bytes[start] as number;
    const second = bytes[middle] as number;
    if ((((bytes[start + 1] as number) | (bytes[middle + 1] as number)) & 0x80) !== 0) {
      return this.#longAttribute(bytes, start, end, isKept);
    }
    if (first === VALUE && second === KEY) {
      return this.#pair(bytes, middle + 2, end, start + 2, middle, isKept);
    }
    if (first === KEY && second === VALUE) {
      return this.#pair(bytes, start + 2, middle, middle + 2, end, isKept);
    }
    return this.#longAttribute(bytes, start, end, isKept);
  }

  #longAttribute(bytes: Buffer, start: number, end: number, isKept: boolean): boolean {
    let pos = start;
    let keyStart = -1;
    let keyEnd = -1;
    let valueStart = -1;
    let valueEnd = -1;
    while (pos < end) {
      const tag = bytes[pos++] as number;
      const after = this.#rangeEnd(bytes, pos, end);
      if (after < 0) return false;
      if (tag === KEY && keyStart < 0) {
        keyStart = this.#valueStart;
        keyEnd = after;
      } else if (tag === VALUE && valueStart < 0) {
        valueStart = this.#valueStart;
        valueEnd = after;
      } else return false;
      pos = after;
    }
    return this.#pair(bytes, keyStart, keyEnd, valueStart, valueEnd, isKept);
  }

  #pair(
    bytes: Buffer,
    keyStart: number,
    keyEnd: number,
    valueStart: number,
    valueEnd: number,
    isKept: boolean,
  ): boolean {
    if (valueEnd === valueStart) return true;
    if (!isKept || keyEnd === keyStart) return this.#value(IGNORED, bytes, valueStart, valueEnd);
    const place = Math.min(this.#place++, MAX_GUESSES - 1);
    const guess = this.#guesses[place] as number;
    const key = this.#keys.find(this.#message, keyStart, keyEnd - keyStart, guess);
    if (key !== guess) this.#guesses[place] = key;
    return this.#value(key, bytes, valueStart, valueEnd);
  }

  /** Reads an AnyValue of one field. */
  #value(key: number, bytes: Buffer, start: number, end: number): boolean {
    const pos = start + 1;
    switch (bytes[start]) {
      case 0x0a: {
        if (this.#rangeEnd(bytes, pos, end) !== end) return false;
        if (key < 0) return true;
        this.starts[key] = this.#valueStart;
        this.ends[key] = end;
        return this.#keep(key, valueKinds.text);
      }
      case 0x21: {
        if (end - pos !== 8) return false;
        if (key < 0) return true;
        const value = this.#view.getFloat64(this.#base + pos, true);
        if (!Number.isFinite(value)) return true;
        this.numbers[key] = value;
        return this.#keep(key, valueKinds.number);
      }
      case 0x18:
        return this.#whole(key, bytes, pos, end, valueKinds.number);
      case 0x10:
        return this.#whole(key, bytes, pos, end, valueKinds.bool);
      case 0x2a:
      case 0x32:
      case 0x3a:
        return this.#rangeEnd(bytes, pos, end) === end;
      default:
        return false;
    }
  }

  /** Reads a varint of up to 49 bits. A longer one, a negative number among them, is in doubt. */
  #whole(key: number, bytes: Buffer, start: number, end: number, kind: number): boolean {
    const count = end - start;
    if (count < 1 || count > 7 || (bytes[end - 1] as number) >= 0x80) return false;
    let value = 0;
    for (let i = end - 1; i >= start; i--) {
      const byte = bytes[i] as number;
      if (byte < 0x80 !== (i === end - 1)) return false;
      value = value * 128 + (byte & 0x7f);
    }
    if (key < 0) return true;
    this.numbers[key] = kind === valueKinds.bool ? Number(value !== 0) : value;
    return this.#keep(key, kind);
  }

  /** Keeps the kind of a key's value; false for a second value of the key. */
  #keep(key: number, kind: number): boolean {
    if ((this.#kinds[key] as number) >> 2 === this.#stamp) return false;
    this.#kinds[key] = (this.#stamp << 2) | kind;
    return true;
  }

  /** Reads an event of the span, and keeps the earliest time of each name. */
  #event(bytes: Buffer, start: number, end: number): boolean {
    if (++this.#parts > limits.spanParts) return false;
    let pos = start;
    let timeAt = -1;
    let nameStart = 0;
    let nameEnd = 0;
    while (pos < end) {
      const tag = bytes[pos++] as number;
      if (tag === 0x09) {
        if (end - pos < 8) return false;
        timeAt = this.#base + pos;
        pos += 8;
      } else if (tag === 0x20) {
        if (pos >= end || (bytes[pos] as number) >= 0x80) return false;
        pos++;
      } else {
        const after = this.#rangeEnd(bytes, pos, end);
        if (after < 0) return false;
        if (tag === 0x12) {
          nameStart = this.#valueStart;
          nameEnd = after;
        } else if (tag !== 0x1a || !this.#attribute(bytes, this.#valueStart, after, false)) {
          return false;
        }
        pos = after;
      }
    }
    if (timeAt >= 0) this.#keepEvent(nameStart, nameEnd, timeAt);
    return true;
  }

  #keepEvent(nameStart: number, nameEnd: number, timeAt: number): void {
    const low = this.#view.getInt32(timeAt, true);
    const high = this.#view.getInt32(timeAt + 4, true);
    if ((low | high) === 0) return;
    const name = this.#eventNames.find(this.#message, nameStart, nameEnd - nameStart);
    if (name < 0) return;
    const { eventTimes } = this;
    const ms = msOfNs(low, high);
    const ns = nsBeyondMs(low, high);
    if (name === this.#exception) this.hasException = true;
    const firstMs = eventTimes[name * 2] as number;
    const isFirst =
      !this.hasEvent(name) ||
      ms < firstMs ||
      (ms === firstMs && ns < (eventTimes[name * 2 + 1] as number));
    if (!isFirst) return;
    this.#eventStamps[name] = this.#stamp;
    eventTimes[name * 2] = ms;
    eventTimes[name * 2 + 1] = ns;
  }

  #status(bytes: Buffer, start: number, end: number): boolean {
    let pos = start;
    while (pos < end) {
      const tag = bytes[pos++] as number;
      if (tag === 0x18) {
        if (pos >= end || (bytes[pos] as number) >= 0x80) return false;
        this.statusCode = bytes[pos++] as number;
      } else if (tag === 0x12) {
        pos = this.#rangeEnd(bytes, pos, end);
        if (pos < 0) return false;
      } else return false;
    }
    return true;
  }
}
