/** Writers of protobuf's encoding, which let a test choose the order of fields and write what is wrong. */

function varint(value: bigint | number): Buffer {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, BigInt(value));
  for (; left >= 0x80n; left >>= 7n) bytes.push(Number(left & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(left)]);
}

const tag = (field: number, wireType: number) => varint(field * 8 + wireType);

export function varintField(field: number, value: bigint | number): Buffer {
  return Buffer.concat([tag(field, 0), varint(value)]);
}

export function fixed64Field(field: number, value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt.asUintN(64, value));
  return Buffer.concat([tag(field, 1), bytes]);
}

export function fixed32Field(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return Buffer.concat([tag(field, 5), bytes]);
}

export function doubleField(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([tag(field, 1), bytes]);
}

/** A text, bytes, or a message of fields. */
export function bytesField(field: number, value: string | Buffer | readonly Buffer[]): Buffer {
  const isWhole = typeof value === 'string' || Buffer.isBuffer(value);
  const bytes = isWhole ? Buffer.from(value as string) : Buffer.concat(value);
  return Buffer.concat([tag(field, 2), varint(bytes.length), bytes]);
}
