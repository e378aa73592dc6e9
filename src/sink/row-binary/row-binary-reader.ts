/**
 * Reads ClickHouse's RowBinary format. O(1) per value.
 *
 * @throws RangeError when the bytes end within a value, or a number is too large.
 */
export class RowBinaryReader {
  readonly bytes: Buffer;
  readonly #view: DataView;
  at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  get atEnd(): boolean {
    return this.at >= this.bytes.length;
  }

  uint8(): number {
    const value = this.#view.getUint8(this.at);
    this.at += 1;
    return value;
  }

  int16(): number {
    const value = this.#view.getInt16(this.at, true);
    this.at += 2;
    return value;
  }

  uint32(): number {
    const value = this.#view.getUint32(this.at, true);
    this.at += 4;
    return value;
  }

  /** A UInt64, exact below 2^53. */
  uint64(): number {
    const low = this.#view.getUint32(this.at, true);
    const high = this.#view.getUint32(this.at + 4, true);
    this.at += 8;
    return high * 2 ** 32 + low;
  }

  float64(): number {
    const value = this.#view.getFloat64(this.at, true);
    this.at += 8;
    return value;
  }

  /** A VarUInt, at most 2^53 - 1. */
  varUint(): number {
    let value = 0;
    for (let factor = 1; value <= Number.MAX_SAFE_INTEGER && factor < 2 ** 56; factor *= 0x80) {
      const byte = this.uint8();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80 && value <= Number.MAX_SAFE_INTEGER) return value;
    }
    throw new RangeError('a VarUInt beyond 2^53');
  }

  string(): string {
    const from = this.skipString();
    return this.bytes.toString('utf8', from, this.at);
  }

  /** Skips a string; returns where its bytes begin. */
  skipString(): number {
    return this.skip(this.varUint());
  }

  /** Returns the next `length` bytes without copying. */
  readBytes(length: number): Buffer {
    const from = this.skip(length);
    return this.bytes.subarray(from, this.at);
  }

  /** Skips `length` bytes; returns where they begin. */
  skip(length: number): number {
    const from = this.at;
    if (from + length > this.bytes.length) throw new RangeError('value beyond the end');
    this.at = from + length;
    return from;
  }
}
