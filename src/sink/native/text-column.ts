import { RowBinaryWriter } from '../row-binary/row-binary-writer.ts';
import type { NativeColumn } from './native-block.ts';

/** Version of the serialization: dictionaries are sent with the keys of the block. */
const prefix = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]);
/** Flags of a dictionary that comes with its block: it has keys, and they replace the ones before. */
const OWN_KEYS = 0x200 | 0x400;

/**
 * A column of LowCardinality(String): each text once, and for each row where it stands among them. O(1) a
 * row. Source: ClickHouse, src/DataTypes/Serializations/SerializationLowCardinality.cpp.
 */
export class TextColumn implements NativeColumn {
  readonly prefix = prefix;
  readonly #placeOf = new Map<number | string, number>();
  readonly #texts: Uint8Array[] = [];
  #places = new Uint32Array(64);
  #size = 0;

  reset(): void {
    this.#placeOf.clear();
    this.#texts.length = 0;
    this.#size = 0;
  }

  /**
   * Place of a text, which is added if it is new.
   *
   * @param key what the text is known by in this block. A text may have several.
   */
  placeOf(key: number | string, text: Uint8Array): number {
    const known = this.#placeOf.get(key);
    if (known !== undefined) return known;
    const place = this.#texts.push(text) - 1;
    this.#placeOf.set(key, place);
    return place;
  }

  /** Adds rows with the text at a place. */
  add(place: number, rows = 1): void {
    const end = this.#size + rows;
    if (end > this.#places.length) {
      const more = new Uint32Array(Math.max(end, 2 * this.#places.length));
      more.set(this.#places);
      this.#places = more;
    }
    if (rows === 1) this.#places[this.#size] = place;
    else this.#places.fill(place, this.#size, end);
    this.#size = end;
  }

  parts(): readonly Uint8Array[] {
    if (this.#size === 0) return [];
    const count = this.#texts.length;
    const width = count <= 0x100 ? 0 : count <= 0x1_0000 ? 1 : 2;
    const out = new RowBinaryWriter(64 + 32 * count);
    out.uint64(OWN_KEYS | width);
    out.uint64(count);
    for (const text of this.#texts) out.utf8(text);
    out.uint64(this.#size);
    const places = this.#places.subarray(0, this.#size);
    const packed = [Uint8Array, Uint16Array, Uint32Array][width]?.from(places) ?? places;
    return [out.written, new Uint8Array(packed.buffer, packed.byteOffset, packed.byteLength)];
  }
}
