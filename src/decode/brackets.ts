/** Objects and arrays of a text that need not be JSON. */
export interface Brackets {
  readonly depth: number;
  readonly count: number;
}

/**
 * Counts the objects and arrays in `bytes[start, end)`, and how deep they nest. A parser sees them only
 * afterwards. Brackets within strings do not count. O(length), no recursion.
 */
export function bracketsOf(bytes: Uint8Array, start: number, end: number): Brackets {
  let depth = 0;
  let deepest = 0;
  let count = 0;
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte === 0x22) {
      i++;
      while (i < end && bytes[i] !== 0x22) i += bytes[i] === 0x5c ? 2 : 1;
    } else if (byte === 0x7b || byte === 0x5b) {
      count++;
      depth++;
      if (depth > deepest) deepest = depth;
    } else if (byte === 0x7d || byte === 0x5d) {
      depth--;
    }
  }
  return { depth: deepest, count };
}
