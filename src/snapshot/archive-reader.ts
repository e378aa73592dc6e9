import type { Serializable, StateArchive } from './archive.ts';
import { numberWidths } from './archive-writer.ts';
import { UnreadableState } from './unreadable-state.ts';

/**
 * Restores what a `StateWriter` has saved.
 *
 * @throws UnreadableState where the bytes were saved by another layout, or are not all there.
 */
export class StateReader implements StateArchive {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  #at = 0;
  #section = 'the beginning';

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** To be called when all was restored. */
  end(): void {
    const left = this.#bytes.length - this.#at;
    if (left > 0) throw new UnreadableState(`${left} bytes are left after ${this.#section}`);
  }

  section(name: string, version: number, body: () => void): void {
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
    const around = this.#section;
    this.#section = name;
    body();
    this.#section = around;
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
    const at = this.#advance(length);
    return this.#bytes.toString('utf8', at, at + length);
  }

  numbers(_values: ArrayLike<number>): Float64Array {
    const n = this.#size();
    const values = new Float64Array(this.#checked(n));
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
    const n = this.#checked(this.#size());
    const items: T[] = [];
    for (let i = 0; i < n; i++) items.push(serialize(undefined));
    return items;
  }

  map<T extends Serializable>(items: Map<string, T>, make: (key: string) => T): void {
    const n = this.#checked(this.#size());
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
    let at = this.#advance(n * width);
    for (let i = 0; i < n; i++, at += width) {
      values[i] =
        width === numberWidths.single ? view.getFloat32(at, true) : view.getFloat64(at, true);
    }
  }

  /** So many of anything take a byte each at least. */
  #checked(n: number): number {
    if (n > this.#bytes.length - this.#at) this.#fallShort();
    return n;
  }

  #size(): number {
    return this.#view.getUint32(this.#advance(4), true);
  }

  /** Where the next bytes are. */
  #advance(length: number): number {
    const at = this.#at;
    if (at + length > this.#bytes.length) this.#fallShort();
    this.#at += length;
    return at;
  }

  #fallShort(): never {
    throw new UnreadableState(`it ends within ${this.#section}`);
  }
}
