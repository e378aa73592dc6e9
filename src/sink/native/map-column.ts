import { RowBinaryWriter } from '../row-binary/row-binary-writer.ts';
import type { NativeColumn } from './native-block.ts';

/** A column of Map(Key, Float64): where each row's entries end, then all keys, then all values. */
export class MapColumn<Key extends NativeColumn> implements NativeColumn {
  readonly keys: Key;
  readonly values = new RowBinaryWriter(1 << 12);
  readonly #ends = new RowBinaryWriter(1 << 12);
  #count = 0;

  constructor(keys: Key) {
    this.keys = keys;
  }

  get prefix(): Uint8Array {
    return this.keys.prefix ?? new Uint8Array();
  }

  reset(): void {
    this.keys.reset();
    this.values.reset();
    this.#ends.reset();
    this.#count = 0;
  }

  /** Ends a row, of whose entries the keys and values were added. */
  endRow(entries: number): void {
    this.#count += entries;
    this.#ends.uint64(this.#count);
  }

  /** Adds rows without entries. */
  addEmpty(rows: number): void {
    if (rows === 0) return;
    this.#ends.uint64(this.#count);
    this.#ends.repeat(8, rows - 1);
  }

  parts(): readonly Uint8Array[] {
    return [this.#ends.written, ...this.keys.parts(), this.values.written];
  }
}
