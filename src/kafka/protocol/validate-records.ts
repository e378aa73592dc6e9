/** Longest varints: 32 bits, and 64 bits for timestamps. */
const VARINT_BYTES = 5;
const VARLONG_BYTES = 10;

/**
 * Checks the inflated records of a batch, because their reader trusts the length fields. Returns the problem,
 * or undefined.
 *
 * About 30 ns per record; reads lengths only.
 */
export function recordProblem(bytes: Buffer, count: number): string | undefined {
  let at = 0;
  for (let i = 0; i < count; i++) {
    const start = varintEnd(bytes, at, bytes.length, VARINT_BYTES);
    const end = start < 0 ? -1 : start + varint(bytes, at, start);
    if (end <= start || end > bytes.length) return `record ${i} must lie within the batch`;
    // Attributes, timestamp and offset.
    let pos = varintEnd(bytes, start + 1, end, VARLONG_BYTES);
    pos = varintEnd(bytes, pos, end, VARINT_BYTES);
    pos = partEnd(bytes, pos, end, -1);
    pos = partEnd(bytes, pos, end, -1);
    const headers = varintEnd(bytes, pos, end, VARINT_BYTES);
    if (headers < 0) return `record ${i} must match its length field`;
    const headerCount = varint(bytes, pos, headers);
    if (headerCount < 0) return `record ${i} must not have ${headerCount} headers`;
    pos = headers;
    for (let header = 0; header < headerCount && pos >= 0; header++) {
      pos = partEnd(bytes, pos, end, 0);
      pos = partEnd(bytes, pos, end, -1);
    }
    if (pos !== end) return `record ${i} must match its length field`;
    at = end;
  }
  return undefined;
}

/** Position after the varint at `at`, which must end before `end`; -1 otherwise, and for -1. */
function varintEnd(bytes: Buffer, at: number, end: number, maxBytes: number): number {
  if (at < 0) return -1;
  const limit = Math.min(end, at + maxBytes);
  for (let i = at; i < limit; i++) if ((bytes[i] as number) < 0x80) return i + 1;
  return -1;
}

/** The zigzag varint in `[at, end)`, in 32 bits. */
function varint(bytes: Buffer, at: number, end: number): number {
  let value = 0;
  for (let i = end - 1; i >= at; i--) value = (value << 7) | ((bytes[i] as number) & 0x7f);
  return (value >>> 1) ^ -(value & 1);
}

/**
 * Position after the length-prefixed part at `at`, or -1. A length of -1 means none, if `least` allows it.
 */
function partEnd(bytes: Buffer, at: number, end: number, least: number): number {
  const start = varintEnd(bytes, at, end, VARINT_BYTES);
  if (start < 0) return -1;
  const length = varint(bytes, at, start);
  if (length < least) return -1;
  const after = start + Math.max(0, length);
  return after <= end ? after : -1;
}
