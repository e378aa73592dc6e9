import { dimensions, overflowValue } from '../../base/dimensions.ts';
import type { EventRecord } from '../event-record.ts';
import type { Vocabulary } from '../vocabulary.ts';
import type { JsonScanner } from './json-scanner.ts';
import { Pattern } from './pattern.ts';

const QUOTE = 0x22;
/** A power of two. Values beyond it cost a look-up in the interner, nothing else. */
const slotCount = 1024;
const quotedOverflow = new Pattern(`"${overflowValue}"`);

/**
 * Reads the values of the dimensions. Compared first is the value that the dimension had last,
 * then the one in a slot found by length and outer bytes; both come with their id, so nothing is
 * hashed. A value that is neither is interned by `resolve`, when the whole event is known to be
 * good.
 */
export class ValueScanner {
  readonly #json: JsonScanner;
  readonly #values: Vocabulary;
  readonly #maxBytes: number;
  /** The value each dimension had last: one of the slots, so text and id stay together. */
  readonly #last: Pattern[];
  readonly #slots = Array.from({ length: slotCount }, () => new Pattern());
  /** Dimensions whose value is not yet interned, a bit each, and where the values lie. */
  #pending = 0;
  readonly #starts = new Int32Array(dimensions.length);
  readonly #ends = new Int32Array(dimensions.length);

  constructor(json: JsonScanner, values: Vocabulary, maxBytes: number) {
    this.#json = json;
    this.#values = values;
    this.#maxBytes = maxBytes;
    this.#last = dimensions.map(() => new Pattern());
  }

  /** Begins an event. */
  begin(): void {
    this.#pending = 0;
  }

  /** Forgets all ids, as the interner was cleared. */
  forget(): void {
    for (const slot of this.#slots) slot.forget();
    for (const last of this.#last) last.forget();
  }

  /** Reads the string at `pos` as the value of a dimension; position after it, or -1. */
  scan(index: number, bytes: Buffer, pos: number, end: number, record: EventRecord): number {
    const json = this.#json;
    const last = this.#last[index] as Pattern;
    if (json.matches(last, pos, end)) {
      record.dimensionIds[index] = last.id;
      return pos + last.length;
    }
    const close = this.label(bytes, pos, end);
    if (close < 0) return -1;
    const slot = this.#slots[this.#slotOf(pos, close)] as Pattern;
    if (json.matches(slot, pos, end)) {
      this.#last[index] = slot;
      record.dimensionIds[index] = slot.id;
      return close + 1;
    }
    if (json.matches(quotedOverflow, pos, end)) return -1;
    this.#starts[index] = pos;
    this.#ends[index] = close + 1;
    this.#pending |= 1 << index;
    return close + 1;
  }

  /** Position of the closing quote of a string that is not too long, or -1. */
  label(bytes: Buffer, pos: number, end: number): number {
    if (bytes[pos] !== QUOTE) return -1;
    const close = this.#json.plainString(bytes, pos + 1, end);
    return close - pos - 1 <= this.#maxBytes ? close : -1;
  }

  /** Whether a dimension of this event has a value, and not an empty one. */
  has(index: number, record: EventRecord): boolean {
    if ((this.#pending & (1 << index)) === 0) return record.dimensionIds[index] !== 0;
    return (this.#ends[index] as number) - (this.#starts[index] as number) > 2;
  }

  /** Interns the values that are new here. */
  resolve(bytes: Buffer, record: EventRecord): void {
    if (this.#pending === 0) return;
    for (let i = 0; i < dimensions.length; i++) {
      if ((this.#pending & (1 << i)) === 0) continue;
      const start = this.#starts[i] as number;
      const end = this.#ends[i] as number;
      const id = this.#values.idOf(bytes, start + 1, end - 1);
      record.dimensionIds[i] = id;
      // A value that found no room may find it once the interner is cleared.
      if (id === this.#values.otherId) continue;
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
