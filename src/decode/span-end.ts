/** The container that begins the span does not close before `end`. */
const UNCLOSED = -1;
/** The span nests deeper than asked for. */
const TOO_DEEP = -2;

export const spanEnds = { unclosed: UNCLOSED, tooDeep: TOO_DEEP } as const;

/**
 * Position after the object or array that begins at `pos`, told by brackets and strings alone,
 * so that the events of a message can be parted whether or not each is JSON. `unclosed` also if
 * a line ends within a string, which JSON forbids: what follows is then no longer sure to be
 * text or structure. `tooDeep` as soon as it nests more than `maxDepth` levels.
 */
export function spanEnd(bytes: Uint8Array, pos: number, end: number, maxDepth: number): number {
  let depth = 0;
  for (let i = pos; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte === 0x22) {
      i++;
      while (i < end && bytes[i] !== 0x22) {
        if (bytes[i] === 0x0a) return UNCLOSED;
        i += bytes[i] === 0x5c ? 2 : 1;
      }
    } else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > maxDepth) return TOO_DEEP;
    } else if (byte === 0x7d || byte === 0x5d) {
      if (--depth === 0) return i + 1;
    }
  }
  return UNCLOSED;
}
