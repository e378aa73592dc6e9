import { valueKinds } from '../spans/rules/span-values.ts';
import { KeyTable } from './key-table.ts';
import type { MessageView } from './message-view.ts';
import type { OtlpSpan } from './otlp-span.ts';
import { rangeEnd, rangeStart } from './range.ts';

/** Tags of the fields of a KeyValue. */
const KEY = 0x0a;
const VALUE = 0x12;
/** Index for an attribute that no rule asks for. */
const IGNORED = -1;
/** Attributes of a span whose keys are guessed. */
const MAX_GUESSES = 64;

/** Reads attributes of spans as writers write them: the short cut of `SpanParts`. */
export class PlainAttributes {
  readonly #message: MessageView;
  readonly #span: OtlpSpan;
  readonly #keys: KeyTable;
  /**
   * Key of each attribute of the last span by its place. Spans of one kind have the same keys in the same
   * order, so the key there is compared first.
   */
  readonly #guesses = new Int32Array(MAX_GUESSES).fill(IGNORED);
  #place = 0;

  /** @param span keeps the values of the keys that rules ask for. */
  constructor(message: MessageView, keys: readonly string[], span: OtlpSpan) {
    this.#message = message;
    this.#span = span;
    this.#keys = new KeyTable(keys);
  }

  /** Begins another span. */
  begin(): void {
    this.#place = 0;
  }

  /** Returns the index of a key, or -1. */
  indexOf(start: number, end: number): number {
    return this.#keys.find(this.#message, start, end - start);
  }

  /** Reads a KeyValue with a key and a value, in either order. Returns false for any other. */
  read(bytes: Buffer, start: number, end: number): boolean {
    let first = start + 2;
    let middle = first + (bytes[start + 1] as number);
    let second = middle + 2;
    const isShort =
      second <= end &&
      second + (bytes[middle + 1] as number) === end &&
      (((bytes[start + 1] as number) | (bytes[middle + 1] as number)) & 0x80) === 0;
    if (!isShort) {
      middle = rangeEnd(bytes, start + 1, end);
      if (!(middle >= 0) || rangeEnd(bytes, middle + 1, end) !== end) return false;
      first = rangeStart(bytes, start + 1);
      second = rangeStart(bytes, middle + 1);
    }
    if (bytes[start] === VALUE && bytes[middle] === KEY) {
      return this.#pair(bytes, second, end, first, middle);
    }
    if (bytes[start] === KEY && bytes[middle] === VALUE) {
      return this.#pair(bytes, first, middle, second, end);
    }
    return false;
  }

  #pair(
    bytes: Buffer,
    keyStart: number,
    keyEnd: number,
    valueStart: number,
    valueEnd: number,
  ): boolean {
    if (valueEnd === valueStart) return true;
    if (keyEnd === keyStart) return this.#value(bytes, IGNORED, valueStart, valueEnd);
    const place = Math.min(this.#place++, MAX_GUESSES - 1);
    const guess = this.#guesses[place] as number;
    const key = this.#keys.find(this.#message, keyStart, keyEnd - keyStart, guess);
    if (key !== guess) this.#guesses[place] = key;
    return this.#value(bytes, key, valueStart, valueEnd);
  }

  /** Reads an AnyValue of one field. Returns false for any other. */
  #value(bytes: Buffer, key: number, start: number, end: number): boolean {
    const span = this.#span;
    const pos = start + 1;
    switch (bytes[start]) {
      // A text, a list, a map and bytes.
      case 0x0a:
      case 0x2a:
      case 0x32:
      case 0x3a:
        if (rangeEnd(bytes, pos, end) !== end) return false;
        if (key < 0 || bytes[start] !== 0x0a) return true;
        span.starts[key] = rangeStart(bytes, pos);
        span.ends[key] = end;
        span.keep(key, valueKinds.text);
        return true;
      case 0x10:
        if (end - pos !== 1 || (bytes[pos] as number) > 1) return false;
        if (key < 0) return true;
        span.numbers[key] = bytes[pos] as number;
        span.keep(key, valueKinds.bool);
        return true;
      case 0x21: {
        if (end - pos !== 8) return false;
        const { view, base } = this.#message;
        const value = view.getFloat64(base + pos, true);
        if (key < 0 || !Number.isFinite(value)) return true;
        span.numbers[key] = value;
        span.keep(key, valueKinds.number);
        return true;
      }
      case 0x18:
        return this.#integer(bytes, key, pos, end);
      default:
        return false;
    }
  }

  /** Reads a varint of up to 49 bits. Returns false for a longer one, a negative number among them. */
  #integer(bytes: Buffer, key: number, start: number, end: number): boolean {
    const count = end - start;
    if (count < 1 || count > 7 || (bytes[end - 1] as number) >= 0x80) return false;
    let value = 0;
    for (let i = end - 1; i >= start; i--) {
      const byte = bytes[i] as number;
      if (byte < 0x80 !== (i === end - 1)) return false;
      value = value * 128 + (byte & 0x7f);
    }
    if (key < 0) return true;
    this.#span.numbers[key] = value;
    this.#span.keep(key, valueKinds.number);
    return true;
  }
}
