/** Returns the end of the value whose length stands at `pos`; a negative number or NaN for one of 16 KiB or more. */
export function rangeEnd(bytes: Buffer, pos: number, end: number): number {
  const first = bytes[pos] as number;
  if (first < 0x80) return first > end - pos - 1 ? -1 : pos + 1 + first;
  const second = bytes[pos + 1] as number;
  if (second >= 0x80) return -1;
  const after = pos + 2 + ((first & 0x7f) | (second << 7));
  return after > end ? -1 : after;
}

/** Returns its start. */
export function rangeStart(bytes: Buffer, pos: number): number {
  return (bytes[pos] as number) < 0x80 ? pos + 1 : pos + 2;
}
