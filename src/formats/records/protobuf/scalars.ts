import type protobuf from 'protobufjs';
import type { ByteCursor } from '../byte-cursor.ts';

/** A type without fields. */
export interface Scalar {
  /** Encoding in the tag: 0 varint, 1 eight bytes, 2 with a length, 5 four bytes. */
  readonly encoding: number;
  /** Value of a field without presence that was not sent. */
  readonly absent: string | number | boolean;
  read(cursor: ByteCursor): unknown;
}

function varint(read: (cursor: ByteCursor) => unknown): Scalar {
  return {
    encoding: 0,
    absent: 0,
    read(cursor) {
      cursor.varint();
      return read(cursor);
    },
  };
}

function fixed32(read: (bytes: Buffer, at: number) => number): Scalar {
  return {
    encoding: 5,
    absent: 0,
    read: (cursor) => read(cursor.bytes, cursor.take(4, 'A number')),
  };
}

function fixed64(read: (cursor: ByteCursor) => unknown): Scalar {
  return {
    encoding: 1,
    absent: 0,
    read(cursor) {
      cursor.fixed64();
      return read(cursor);
    },
  };
}

function withLength(read: (cursor: ByteCursor, length: number) => string): Scalar {
  return {
    encoding: 2,
    absent: '',
    read(cursor) {
      cursor.varint();
      return read(cursor, Number(cursor.unsigned()));
    },
  };
}

/** Numbers of 32 bits may be sent with more, of which the lowest count. */
const scalars: Readonly<Record<string, Scalar>> = {
  int32: varint((cursor) => cursor.low | 0),
  uint32: varint((cursor) => cursor.low),
  sint32: varint((cursor) => (cursor.low >>> 1) ^ -(cursor.low & 1)),
  int64: varint((cursor) => cursor.signed()),
  uint64: varint((cursor) => cursor.unsigned()),
  sint64: varint((cursor) => cursor.zigzag()),
  bool: { ...varint((cursor) => cursor.low !== 0 || cursor.high !== 0), absent: false },
  fixed32: fixed32((bytes, at) => bytes.readUInt32LE(at)),
  sfixed32: fixed32((bytes, at) => bytes.readInt32LE(at)),
  fixed64: fixed64((cursor) => cursor.unsigned()),
  sfixed64: fixed64((cursor) => cursor.signed()),
  float: { encoding: 5, absent: 0, read: (cursor) => cursor.float() },
  double: { encoding: 1, absent: 0, read: (cursor) => cursor.double() },
  string: withLength((cursor, length) => cursor.text(length)),
  bytes: withLength((cursor, length) => cursor.hex(length)),
};

/** Returns the scalar of a type's name, or of an enum; undefined for a message. */
export function scalarOf(type: string, values: protobuf.Enum | null): Scalar | undefined {
  if (values === null) return Object.hasOwn(scalars, type) ? scalars[type] : undefined;
  const names = new Map<number, string>();
  // Of several names for one number the first counts.
  for (const [name, number] of Object.entries(values.values)) {
    if (!names.has(number)) names.set(number, name);
  }
  const nameOf = (number: number) => names.get(number) ?? number;
  return { ...varint((cursor) => nameOf(cursor.low | 0)), absent: nameOf(0) };
}
