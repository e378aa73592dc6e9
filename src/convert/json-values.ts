/** A top-level JSON value of a stream, or one that was given up as too long. */
export interface JsonValue {
  readonly bytes: Buffer;
  readonly isTooLong: boolean;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Splits a stream into its top-level objects and arrays, on one line or over many, by brackets and strings
 * alone. Text between them, or a value that breaks off at the end, is a value of its own: not JSON.
 *
 * Memory: one value, at most `maxBytes`. Of a longer one the beginning is yielded, marked.
 */
export async function* jsonValues(
  pieces: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<JsonValue, void> {
  let parts: Buffer[] = [];
  let bytes = 0;
  let depth = 0;
  let inString = false;
  let isEscaped = false;
  const keep = (part: Buffer) => {
    if (bytes < maxBytes) parts.push(part.subarray(0, maxBytes - bytes));
    bytes += part.length;
  };
  const taken = (): JsonValue => {
    const value = { bytes: Buffer.concat(parts), isTooLong: bytes > maxBytes };
    parts = [];
    bytes = 0;
    return value;
  };
  for await (const piece of pieces) {
    let start = 0;
    for (let i = 0; i < piece.length; i++) {
      const byte = piece[i] as number;
      if (inString) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) inString = false;
      } else if (byte === QUOTE) {
        inString = depth > 0;
      } else if (byte === 0x7b || byte === 0x5b) {
        depth++;
      } else if ((byte === 0x7d || byte === 0x5d) && depth > 0 && --depth === 0) {
        keep(piece.subarray(start, i + 1));
        yield taken();
        start = i + 1;
      }
    }
    keep(piece.subarray(start));
  }
  const rest = taken();
  if (rest.bytes.toString('latin1').trim() !== '') yield rest;
}
