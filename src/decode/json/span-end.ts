/**
 * Position after the object or array that begins at `pos`, found by brackets and strings alone. So the events
 * of a message are separated even if one is not JSON.
 *
 * Without an end, the bitwise complement of a position. It is `end`, or that of the bracket that opens more
 * than `maxDepth` levels. Or it is a newline within a string, which JSON forbids: the bytes after it may be
 * text or structure.
 */
export function spanEnd(bytes: Uint8Array, pos: number, end: number, maxDepth: number): number {
  let depth = 0;
  for (let i = pos; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte === 0x22) {
      i++;
      while (i < end && bytes[i] !== 0x22) {
        if (bytes[i] === 0x0a) return ~i;
        i += bytes[i] === 0x5c ? 2 : 1;
      }
    } else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > maxDepth) return ~i;
    } else if (byte === 0x7d || byte === 0x5d) {
      if (--depth === 0) return i + 1;
    }
  }
  return ~end;
}
