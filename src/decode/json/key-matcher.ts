import { eventFields } from '../event-fields.ts';
import { afterSpace, type JsonScanner } from './json-scanner.ts';
import { Pattern } from './pattern.ts';

const maxNameLength = Math.max(...eventFields.map((field) => field.name.length));
/** Most frequent form of each field's key, with the colon: one comparison finds its end as well. */
const patterns = eventFields.map(({ name }) => new Pattern(`"${name}":`));
const quotedKeys = eventFields.map((field) => Buffer.from(`"${field.name}"`));
const candidates = Array.from({ length: maxNameLength + 1 }, (_, length) =>
  Int32Array.from(eventFields.flatMap((f, i) => (f.name.length === length ? [i] : []))),
);

/**
 * Finds the field of a key. A producer writes its keys in one order, so the key that followed the last one in
 * an earlier event is compared first. Only a key out of order is looked up.
 */
export class KeyMatcher {
  static readonly unknown = -1;
  static readonly doubt = -2;

  /** Position of the value of the last key, after the colon and white space. */
  end = 0;
  readonly #scanner: JsonScanner;
  /** Field that followed each field; the last entry is for an event's first key. */
  readonly #after = new Int32Array(eventFields.length + 1).fill(-1);
  #last = eventFields.length;

  constructor(scanner: JsonScanner) {
    this.#scanner = scanner;
  }

  /** Begins an event. */
  begin(): void {
    this.#last = eventFields.length;
  }

  /** Field of the key whose opening quote is at `pos`, `unknown`, or `doubt`. */
  match(bytes: Buffer, pos: number, end: number): number {
    const expected = this.#after[this.#last] as number;
    if (expected >= 0) {
      const pattern = patterns[expected] as Pattern;
      if (this.#scanner.matches(pattern, pos, end)) {
        this.#last = expected;
        this.end = pos + pattern.length;
        return expected;
      }
    }
    return this.#lookUp(bytes, pos, end);
  }

  #lookUp(bytes: Buffer, pos: number, end: number): number {
    if (pos >= end || bytes[pos] !== 0x22) return KeyMatcher.doubt;
    const close = this.#scanner.plainString(bytes, pos + 1, end);
    if (close < 0) return KeyMatcher.doubt;
    const colon = afterSpace(bytes, close + 1, end);
    if (colon >= end || bytes[colon] !== 0x3a) return KeyMatcher.doubt;
    this.end = colon + 1;
    const length = close - pos - 1;
    if (length > maxNameLength) return KeyMatcher.unknown;
    const fields = candidates[length] as Int32Array;
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i] as number;
      const key = quotedKeys[field] as Buffer;
      if (this.#scanner.word(bytes, pos, end, key) < 0) continue;
      this.#after[this.#last] = field;
      this.#last = field;
      return field;
    }
    return KeyMatcher.unknown;
  }
}
