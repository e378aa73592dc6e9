import { isUtf8 } from 'node:buffer';
import type { RejectReason } from '../../decode/reject-reasons.ts';
import { recordLimits } from './record-limits.ts';
import { RecordFault } from './record-reader.ts';

const twoTo32 = 2 ** 32;

/**
 * Reads the primitive values of one record from `bytes[pos, end)`. Every length is compared with the bytes
 * that are left before anything is allocated, and every value is paid for from a budget, so that neither a
 * length that lies nor a count without bytes costs time or memory.
 */
export class ByteCursor {
  readonly #reason: RejectReason;
  readonly bytes: Buffer;
  readonly start: number;
  pos: number;
  end: number;
  /** The number that `varint` has read, its lower and upper 32 bits, each from 0 to 2³² − 1. */
  low = 0;
  high = 0;
  #values: number;
  #depth = 0;

  /** @param reason of what is wrong: that of the serialization. */
  constructor(bytes: Buffer, start: number, end: number, reason: RejectReason) {
    this.bytes = bytes;
    this.start = start;
    this.pos = start;
    this.end = end;
    this.#reason = reason;
    const { valuesPerByte, valuesBeside, values } = recordLimits;
    this.#values = Math.min((end - start) * valuesPerByte + valuesBeside, values);
  }

  /** Makes a fault with its place: the number of the byte, counted from the record's first. */
  fault(detail: string): RecordFault {
    return new RecordFault(this.#reason, `${detail} (at byte ${this.pos - this.start})`);
  }

  /** Pays for values before they are read. */
  spend(count: number): void {
    this.#values -= count;
    if (this.#values >= 0) return;
    const { valuesPerByte, valuesBeside, values } = recordLimits;
    const rule = `at most ${valuesPerByte} values a byte and ${valuesBeside}, or ${values}`;
    throw this.fault(`A record must hold ${rule}: it holds more`);
  }

  /** Enters a value that holds others. */
  enter(): void {
    if (++this.#depth <= recordLimits.recordDepth) return;
    const rule = `A record must nest at most ${recordLimits.recordDepth} levels`;
    throw new RecordFault('too_deep', `${rule}: it nests deeper`);
  }

  leave(): void {
    this.#depth--;
  }

  /** Passes `count` bytes and returns where they begin. */
  take(count: number, what: string): number {
    const at = this.pos;
    if (count > this.end - at) {
      throw this.fault(
        `${what} of ${count} bytes must end within the record: ${this.end - at} are left`,
      );
    }
    this.pos = at + count;
    return at;
  }

  /** Reads a varint of up to 64 bits into `low` and `high`. */
  varint(): void {
    const { bytes, end } = this;
    let { pos } = this;
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (pos >= end) throw this.fault('A number must end within the record: it is cut off');
      const byte = bytes[pos++] as number;
      const part = byte & 0x7f;
      if (shift < 28) low |= part << shift;
      else if (shift === 28) {
        low |= part << 28;
        high = part >>> 4;
      } else high |= part << (shift - 32);
      if (byte < 0x80) {
        this.pos = pos;
        this.low = low >>> 0;
        this.high = high >>> 0;
        return;
      }
    }
    throw this.fault('A number must have at most 10 bytes: it has more');
  }

  /** Reads 8 bytes, the lowest first, into `low` and `high`. */
  fixed64(): void {
    const at = this.take(8, 'A number');
    this.low = this.bytes.readUInt32LE(at);
    this.high = this.bytes.readUInt32LE(at + 4);
  }

  /** Returns `low` and `high` as an unsigned number: a text beyond 2⁵³. */
  unsigned(): number | string {
    const { low, high } = this;
    if (high < 0x20_0000) return high * twoTo32 + low;
    return ((BigInt(high) << 32n) | BigInt(low)).toString();
  }

  /** Returns `low` and `high` as a signed number in two's complement: a text beyond ±2⁵³. */
  signed(): number | string {
    const { low, high } = this;
    if (high < 0x8000_0000) return this.unsigned();
    // The bits of −n are those of n − 1, inverted.
    const below = ~high >>> 0;
    const size = below * twoTo32 + (~low >>> 0) + 1;
    if (Number.isSafeInteger(size)) return -size;
    return BigInt.asIntN(64, (BigInt(high) << 32n) | BigInt(low)).toString();
  }

  /** Returns `low` and `high` as a number in zigzag: a text beyond ±2⁵³. */
  zigzag(): number | string {
    const isNegative = (this.low & 1) === 1;
    this.low = ((this.low >>> 1) | (this.high << 31)) >>> 0;
    this.high >>>= 1;
    if (isNegative) {
      this.low = ~this.low >>> 0;
      this.high = ~this.high >>> 0;
    }
    return this.signed();
  }

  float(): number {
    return this.bytes.readFloatLE(this.take(4, 'A float'));
  }

  double(): number {
    return this.bytes.readDoubleLE(this.take(8, 'A double'));
  }

  /** Reads a text of `length` bytes. */
  text(length: number): string {
    const at = this.take(length, 'A text');
    const text = this.bytes.toString('utf8', at, at + length);
    if (!text.includes('\uFFFD') || isUtf8(this.bytes.subarray(at, at + length))) return text;
    throw new RecordFault(
      'invalid_utf8',
      `A text must be UTF-8 (at byte ${at - this.start}): some bytes are not`,
    );
  }

  /** Reads `length` bytes as lower-case hexadecimal digits, the form of trace ids. */
  hex(length: number): string {
    const at = this.take(length, 'A field of bytes');
    return this.bytes.toString('hex', at, at + length);
  }
}
