import { dimensions, overflowValue } from '../../base/dimensions.ts';
import type { DecodedEvent } from '../decoded-event.ts';
import { Interner } from '../interner.ts';
import type { JsonScanner } from './json-scanner.ts';
import { Pattern } from './pattern.ts';

const QUOTE = 0x22;
/** Number of slots, a power of two. Further values cost a look-up in the interner. */
const slotCount = 1024;
const quotedOverflow = new Pattern(`"${overflowValue}"`);

/**
 * Reads the values of the dimensions. The last value of the dimension is compared first, then the one in a
 * slot found by length and outer bytes. Both have their id, so nothing is hashed. Other values are interned
 * by `resolve`, when the whole event is valid.
 */
export class ValueScanner {
  readonly #json: JsonScanner;
  readonly #values: Interner;
  readonly #maxBytes: number;
  /** Last value of each dimension: one of the slots, so text and id stay together. */
  readonly #last: Pattern[];
  readonly #slots = Array.from({ length: slotCount }, () => new Pattern());
  /** Dimensions whose value is not interned yet, a bit each, and the positions of the values. */
  #pending = 0;
  readonly #starts = new Int32Array(dimensions.length);
  readonly #ends = new Int32Array(dimensions.length);

  constructor(json: JsonScanner, values: Interner, maxBytes: number) {
    this.#json = json;
    this.#values = values;
    this.#maxBytes = maxBytes;
    this.#last = dimensions.map(() => new Pattern());
  }

  /** Begins an event. */
  begin(): void {
    this.#pending = 0;
  }

  /** Forgets all ids, after the interner was cleared. */
  forget(): void {
    for (const slot of this.#slots) slot.forget();
    for (const last of this.#last) last.forget();
  }

  /** Reads the string at `pos` as the value of a dimension; returns the position after it, or -1. */
  scan(index: number, bytes: Buffer, pos: number, end: number, event: DecodedEvent): number {
    const json = this.#json;
    const last = this.#last[index] as Pattern;
    if (json.matches(last, pos, end)) {
      event.dimensionIds[index] = last.id;
      return pos + last.length;
    }
    const close = this.label(bytes, pos, end);
    if (close < 0) return -1;
    const slot = this.#slots[this.#slotOf(pos, close)] as Pattern;
    if (json.matches(slot, pos, end)) {
      this.#last[index] = slot;
      event.dimensionIds[index] = slot.id;
      return close + 1;
    }
    if (json.matches(quotedOverflow, pos, end)) return -1;
    this.#starts[index] = pos;
    this.#ends[index] = close + 1;
    this.#pending |= 1 << index;
    return close + 1;
  }

  /** Position of the closing quote of a string within the maximum length, or -1. */
  label(bytes: Buffer, pos: number, end: number): number {
    if (bytes[pos] !== QUOTE) return -1;
    const close = this.#json.plainString(bytes, pos + 1, end);
    return close - pos - 1 <= this.#maxBytes ? close : -1;
  }

  /** Returns true if a dimension of this event has a value that is not empty. */
  has(index: number, event: DecodedEvent): boolean {
    if ((this.#pending & (1 << index)) === 0) return event.dimensionIds[index] !== 0;
    return (this.#ends[index] as number) - (this.#starts[index] as number) > 2;
  }

  /** Interns the new values. */
  resolve(bytes: Buffer, event: DecodedEvent): void {
    if (this.#pending === 0) return;
    for (let i = 0; i < dimensions.length; i++) {
      if ((this.#pending & (1 << i)) === 0) continue;
      const start = this.#starts[i] as number;
      const end = this.#ends[i] as number;
      const id = this.#values.intern(bytes, start + 1, end - 1);
      event.dimensionIds[i] = id;
      // An overflowed value may be interned once the interner is cleared.
      if (id === Interner.otherId) continue;
      const slot = this.#slots[this.#slotOf(start, end - 1)] as Pattern;
      slot.set(bytes, start, end, id);
      this.#last[i] = slot;
    }
  }

  /** Slot of a quoted value by its length and its first and last three characters. */
  #slotOf(open: number, close: number): number {
    const length = close - open - 1;
    if (length < 2) return length;
    const mixed = Math.imul(this.#json.word32(open), 0x9e3779b1) ^ this.#json.word32(close - 3);
    const hash = Math.imul(mixed + length, 0x85ebca6b);
    return (hash ^ (hash >>> 15)) & (slotCount - 1);
  }
}
