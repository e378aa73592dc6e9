import { type Serializable, type StateArchive, UnreadableState } from './archive.ts';
import { numberWidths } from './archive-writer.ts';

/**
 * Restores the state that a `StateWriter` has saved.
 *
 * @throws UnreadableState where another layout was saved, or bytes are missing.
 */
export class StateReader implements StateArchive {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  #offset = 0;
  #section = 'the beginning';

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** Checks that all bytes were read. */
  end(): void {
    const rest = this.#bytes.length - this.#offset;
    if (rest > 0) throw new UnreadableState(`${rest} bytes are left after ${this.#section}`);
  }

  section<T>(name: string, version: number, body: () => T): T {
    const savedName = this.text('');
    if (savedName !== name) {
      throw new UnreadableState(`it has "${savedName.slice(0, 40)}" where ${name} should be`);
    }
    const savedVersion = this.#size();
    if (savedVersion !== version) {
      throw new UnreadableState(
        `its ${name} is of version ${savedVersion}, this one reads ${version}`,
      );
    }
    const outer = this.#section;
    this.#section = name;
    const result = body();
    this.#section = outer;
    return result;
  }

  number(_value: number): number {
    return this.#view.getFloat64(this.#advance(8), true);
  }

  flag(_value: boolean): boolean {
    const byte = this.#bytes[this.#advance(1)] as number;
    if (byte > 1) throw new UnreadableState(`a flag of ${this.#section} is ${byte}`);
    return byte === 1;
  }

  text(_value: string): string {
    const length = this.#size();
    const offset = this.#advance(length);
    return this.#bytes.toString('utf8', offset, offset + length);
  }

  numbers(_values: ArrayLike<number>): Float64Array {
    const n = this.#size();
    const values = new Float64Array(this.#checkedCount(n));
    this.#read(values);
    return values;
  }

  fill(values: Float64Array | Float32Array): void {
    const n = this.#size();
    if (n !== values.length) {
      throw new UnreadableState(
        `${this.#section} has ${n} numbers where there are ${values.length} now`,
      );
    }
    this.#read(values);
  }

  list<T>(_items: Iterable<T>, serialize: (item: T | undefined) => T): T[] {
    const n = this.#checkedCount(this.#size());
    const items: T[] = [];
    for (let i = 0; i < n; i++) items.push(serialize(undefined));
    return items;
  }

  map<T extends Serializable>(items: Map<string, T>, make: (key: string) => T): void {
    const n = this.#checkedCount(this.#size());
    for (let i = 0; i < n; i++) {
      const key = this.text('');
      const item = make(key);
      item.serialize(this);
      items.set(key, item);
    }
  }

  optional<T>(_value: T | undefined, serialize: (value: T | undefined) => T): T | undefined {
    return this.flag(false) ? serialize(undefined) : undefined;
  }

  #read(values: Float64Array | Float32Array): void {
    const width = this.#bytes[this.#advance(1)];
    if (width !== numberWidths.single && width !== numberWidths.double) {
      throw new UnreadableState(`numbers of ${this.#section} are ${width} bytes wide`);
    }
    const n = values.length;
    const view = this.#view;
    let offset = this.#advance(n * width);
    for (let i = 0; i < n; i++, offset += width) {
      values[i] =
        width === numberWidths.single
          ? view.getFloat32(offset, true)
          : view.getFloat64(offset, true);
    }
  }

  /** Checks a count: each item has at least a byte. */
  #checkedCount(n: number): number {
    if (n > this.#bytes.length - this.#offset) this.#failTruncated();
    return n;
  }

  #size(): number {
    return this.#view.getUint32(this.#advance(4), true);
  }

  /** Reads past `length` bytes and returns their offset. */
  #advance(length: number): number {
    const offset = this.#offset;
    if (offset + length > this.#bytes.length) this.#failTruncated();
    this.#offset += length;
    return offset;
  }

  #failTruncated(): never {
    throw new UnreadableState(`it ends within ${this.#section}`);
  }
}
