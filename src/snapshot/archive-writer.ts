import type { Serializable, StateArchive } from './archive.ts';

/** Bytes of each number of a list: four where all of them are exact floats, such as counts. */
export const numberWidths = { single: 4, double: 8 } as const;

/** Saves state as bytes, little endian, into one buffer that grows and is reused. */
export class StateWriter implements StateArchive {
  #bytes: Buffer;
  #view: DataView;
  #offset = 0;

  constructor(initialBytes = 1 << 16) {
    this.#bytes = Buffer.allocUnsafeSlow(initialBytes);
    this.#view = viewOf(this.#bytes);
  }

  /** Returns a copy of the bytes written since the last call. */
  drain(): Buffer {
    const copy = Buffer.from(this.#bytes.subarray(0, this.#offset));
    this.#offset = 0;
    return copy;
  }

  section<T>(name: string, version: number, body: () => T): T {
    this.text(name);
    this.#size(version);
    return body();
  }

  number(value: number): number {
    this.#reserve(8);
    this.#view.setFloat64(this.#offset, value, true);
    this.#offset += 8;
    return value;
  }

  flag(value: boolean): boolean {
    this.#reserve(1);
    this.#bytes[this.#offset++] = value ? 1 : 0;
    return value;
  }

  text(value: string): string {
    const length = Buffer.byteLength(value);
    this.#size(length);
    this.#reserve(length);
    this.#offset += this.#bytes.write(value, this.#offset, length, 'utf8');
    return value;
  }

  numbers(values: ArrayLike<number>): Float64Array {
    this.#write(values);
    return values instanceof Float64Array ? values : Float64Array.from(values);
  }

  fill(values: Float64Array | Float32Array): void {
    this.#write(values);
  }

  list<T>(items: Iterable<T>, serialize: (item: T | undefined) => T): T[] {
    const all = [...items];
    this.#size(all.length);
    for (const item of all) serialize(item);
    return all;
  }

  map<T extends Serializable>(items: Map<string, T>): void {
    this.#size(items.size);
    for (const [key, item] of items) {
      this.text(key);
      item.serialize(this);
    }
  }

  optional<T>(value: T | undefined, serialize: (value: T | undefined) => T): T | undefined {
    if (this.flag(value !== undefined)) serialize(value);
    return value;
  }

  #write(values: ArrayLike<number>): void {
    const n = values.length;
    const width = isSingle(values) ? numberWidths.single : numberWidths.double;
    this.#size(n);
    this.#reserve(1 + n * width);
    this.#bytes[this.#offset++] = width;
    const view = this.#view;
    let offset = this.#offset;
    for (let i = 0; i < n; i++, offset += width) {
      if (width === numberWidths.single) view.setFloat32(offset, values[i] as number, true);
      else view.setFloat64(offset, values[i] as number, true);
    }
    this.#offset = offset;
  }

  #size(value: number): void {
    this.#reserve(4);
    this.#view.setUint32(this.#offset, value, true);
    this.#offset += 4;
  }

  #reserve(more: number): void {
    if (this.#offset + more <= this.#bytes.length) return;
    const bigger = Buffer.allocUnsafeSlow(Math.max(this.#offset + more, this.#bytes.length * 2));
    this.#bytes.copy(bigger, 0, 0, this.#offset);
    this.#bytes = bigger;
    this.#view = viewOf(bigger);
  }
}

function isSingle(values: ArrayLike<number>): boolean {
  for (let i = 0; i < values.length; i++) {
    if (!Object.is(Math.fround(values[i] as number), values[i])) return false;
  }
  return true;
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
