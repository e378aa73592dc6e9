/** Kinds of values in protobuf's encoding. Groups (3 and 4) are refused: proto3 has none. */
export const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

const wireNames = [
  'a varint',
  'a fixed64',
  'a length',
  'the start of a group',
  'the end of a group',
  'a fixed32',
];
const startGroup = 3;
const endGroup = 4;
const MAX_VARINT_BYTES = 10;

/** The first thing that is wrong with a message. The readers of a message and of its parts share it. */
export class ProtoFault {
  /** The expected and the found, in words; '' while nothing is wrong. */
  text = '';
  /** Position of the byte where it was found, in the whole buffer. */
  at = -1;

  clear(): void {
    this.text = '';
    this.at = -1;
  }

  /** Keeps what is wrong, unless something was before. */
  set(text: string, at: number): void {
    if (this.text !== '') return;
    this.text = text;
    this.at = at;
  }
}

/**
 * Reads the fields of one protobuf message, in the order they were written. `next` reads a field with its
 * value, so a caller leaves out fields it does not know by not looking at them. Nothing is ever read outside
 * the range. After something wrong, `next` returns false, here and in all readers with the same fault.
 *
 *     const reader = new ProtoReader(bytes);
 *     while (reader.next()) if (reader.field === 5 && reader.is(wireTypes.bytes)) name = reader.text();
 *     if (reader.fault.text !== '') …
 *
 * Encoding: https://protobuf.dev/programming-guides/encoding
 */
export class ProtoReader {
  bytes: Buffer;
  readonly fault: ProtoFault;
  #end: number;
  #pos: number;
  /** Number of the field, 1 to 2^29 - 1. */
  field = 0;
  /** Kind of its value. */
  wireType = 0;
  /** Position of the field's tag. */
  at = 0;
  /** Range of a value of `bytes`: a text, bytes or a message. */
  start = 0;
  end = 0;
  /** Halves of any other value, each of 32 bits. */
  low = 0;
  high = 0;

  /** @param fault that of the message around it. @default {a new one} */
  constructor(bytes: Buffer, start = 0, end = bytes.length, fault = new ProtoFault()) {
    this.bytes = bytes;
    this.fault = fault;
    this.#pos = start;
    this.#end = end;
  }

  /** Position of the next field, behind the value of this one. */
  get pos(): number {
    return this.#pos;
  }

  /** Begins to read another message, which costs no allocation. An earlier fault stays. */
  begin(bytes: Buffer, start: number, end: number): void {
    this.bytes = bytes;
    this.#pos = start;
    this.#end = end;
  }

  /** Reads the next field; false at the end, or when something is wrong. */
  next(): boolean {
    if (this.#pos >= this.#end || this.fault.text !== '') return false;
    this.at = this.#pos;
    if (this.#shortRange()) return true;
    if (!this.#tag()) return false;
    this.field = this.low >>> 3;
    this.wireType = this.low & 7;
    if (this.high !== 0) return this.#refuse('a field number must be below 2^29, and is not');
    if (this.field === 0) return this.#refuse('a field number must be at least 1, and is 0');
    switch (this.wireType) {
      case wireTypes.varint:
        return this.#varint('a varint');
      case wireTypes.fixed64:
        return this.#fixed64();
      case wireTypes.bytes:
        return this.#range();
      case wireTypes.fixed32:
        return this.#fixed32();
      case startGroup:
      case endGroup:
        return this.#refuse(`field ${this.field} must not be a group, and is`);
      default:
        return this.#refuse(
          `field ${this.field} must have a wire type of 0, 1, 2 or 5, and has ${this.wireType}`,
        );
    }
  }

  /** Returns true if the field's value is of this kind; for another kind the message is wrong. */
  is(wireType: number): boolean {
    if (this.wireType === wireType) return true;
    const [wanted, found] = [wireNames[wireType], wireNames[this.wireType]];
    return this.#refuse(`field ${this.field} must be ${wanted}, and is ${found}`);
  }

  /** Signed integer: int64, int32 or an enum. It is the nearest double. */
  int(): number {
    return this.high * 0x1_0000_0000 + (this.low >>> 0);
  }

  /** Unsigned integer: uint64, fixed64 or uint32, fixed32. It is the nearest double. */
  uint(): number {
    return (this.high >>> 0) * 0x1_0000_0000 + (this.low >>> 0);
  }

  /** The same exactly. */
  bigUint(): bigint {
    return (BigInt(this.high >>> 0) << 32n) | BigInt(this.low >>> 0);
  }

  bool(): boolean {
    return (this.low | this.high) !== 0;
  }

  /** Value of a double, which is a fixed64. */
  double(): number {
    return this.bytes.readDoubleLE(this.#pos - 8);
  }

  /** Text of a value of `bytes`; what is no UTF-8 becomes U+FFFD. */
  text(): string {
    return this.bytes.toString('utf8', this.start, this.end);
  }

  /** Reader of a value of `bytes` that is a message. */
  message(): ProtoReader {
    return new ProtoReader(this.bytes, this.start, this.end, this.fault);
  }

  #tag(): boolean {
    const tag = this.bytes[this.#pos] as number;
    if (tag >= 0x80) return this.#varint('a tag');
    this.#pos++;
    this.low = tag;
    this.high = 0;
    return true;
  }

  /** Reads the commonest field: a tag of one byte, and a length of one or two. Returns false for any other. */
  #shortRange(): boolean {
    const { bytes } = this;
    const end = this.#end;
    const tag = bytes[this.#pos] as number;
    if (tag < 8 || tag >= 0x80 || (tag & 7) !== wireTypes.bytes || end - this.#pos < 3)
      return false;
    let start = this.#pos + 2;
    let length = bytes[start - 1] as number;
    if (length >= 0x80) {
      const second = bytes[start++] as number;
      if (second >= 0x80) return false;
      length = (length & 0x7f) | (second << 7);
    }
    if (length > end - start) return false;
    this.field = tag >>> 3;
    this.wireType = wireTypes.bytes;
    this.start = start;
    this.end = start + length;
    this.#pos = this.end;
    return true;
  }

  #refuse(text: string): false {
    this.fault.set(text, this.at);
    return false;
  }

  #varint(what: string): boolean {
    this.low = 0;
    this.high = 0;
    for (let i = 0; i < MAX_VARINT_BYTES; i++) {
      if (this.#pos >= this.#end) return this.#breaksOff(what);
      const byte = this.bytes[this.#pos++] as number;
      const bits = byte & 0x7f;
      if (i < 4) this.low |= bits << (7 * i);
      else if (i === 4) {
        this.low |= bits << 28;
        this.high = bits >>> 4;
      } else if (i < 9) this.high |= bits << (7 * i - 32);
      else if (byte > 1) break;
      else this.high |= bits << 31;
      if (byte < 0x80) return true;
    }
    return this.#refuse(`${what} must have at most 64 bits, and has more`);
  }

  #fixed64(): boolean {
    if (this.#end - this.#pos < 8) return this.#breaksOff('a fixed64');
    this.low = this.bytes.readInt32LE(this.#pos);
    this.high = this.bytes.readInt32LE(this.#pos + 4);
    this.#pos += 8;
    return true;
  }

  #fixed32(): boolean {
    if (this.#end - this.#pos < 4) return this.#breaksOff('a fixed32');
    this.low = this.bytes.readInt32LE(this.#pos);
    this.high = 0;
    this.#pos += 4;
    return true;
  }

  #range(): boolean {
    if (!this.#varint('a length')) return false;
    const left = this.#end - this.#pos;
    if (this.uint() > left) {
      return this.#refuse(
        `field ${this.field} must fit into the ${left} bytes left, and has a length of ${this.bigUint()}`,
      );
    }
    this.start = this.#pos;
    this.end = this.#pos + (this.low >>> 0);
    this.#pos = this.end;
    return true;
  }

  #breaksOff(what: string): false {
    return this.#refuse(`${what} must be complete, and breaks off`);
  }
}
