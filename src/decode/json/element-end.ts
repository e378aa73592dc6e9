/**
 * Position of the comma or closing bracket after the array element at `pos`, found by brackets and strings
 * alone. It is -1 if the array does not close before `end`.
 */
export function elementEnd(bytes: Uint8Array, pos: number, end: number): number {
  let depth = 0;
  for (let i = pos; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte === 0x22) {
      i++;
      while (i < end && bytes[i] !== 0x22) i += bytes[i] === 0x5c ? 2 : 1;
    } else if (byte === 0x7b || byte === 0x5b) {
      depth++;
    } else if (byte === 0x7d || byte === 0x5d) {
      if (depth === 0) return i;
      depth--;
    } else if (byte === 0x2c && depth === 0) {
      return i;
    }
  }
  return -1;
}
