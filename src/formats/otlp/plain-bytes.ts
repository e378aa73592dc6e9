/**
 * Returns where a value of bytes in OTLP protobuf ends, whose length stands at `pos`; -1 for one of 16 KiB or
 * more, which writers do not write in a span. Small, so that V8 inlines it in loops over the fields of spans.
 */
export function plainBytesEnd(bytes: Buffer, pos: number): number {
  const length = bytes[pos] as number;
  if (length < 0x80) return pos + 1 + length;
  const second = bytes[pos + 1] as number;
  return second < 0x80 ? pos + 2 + ((length & 0x7f) | (second << 7)) : -1;
}
