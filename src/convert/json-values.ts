/** An object of a stream, or text that is none. */
export interface JsonValue {
  readonly bytes: Buffer;
  /** True for a value beyond the limit; `bytes` has its beginning. */
  readonly isTooLong: boolean;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const betweenObjects = /^[\s,[\]\ufeff]*$/;

/**
 * Splits a stream into its objects by brackets and strings alone: one after another, a line each or over many
 * lines, or the elements of a list. Other text between them is yielded as a value of its own.
 *
 * Memory: one object, at most `maxBytes`.
 */
export async function* jsonValues(
  pieces: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<JsonValue, void> {
  const value = new Value(maxBytes);
  let depth = 0;
  let inString = false;
  let isEscaped = false;
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
      } else if (byte === OPEN_BRACE || (byte === OPEN_BRACKET && depth > 0)) {
        if (depth === 0) {
          value.add(piece.subarray(start, i));
          if (!value.isBlank()) yield value.take();
          value.take();
          start = i;
        }
        depth++;
      } else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && depth > 0) {
        depth--;
        if (depth > 0) continue;
        value.add(piece.subarray(start, i + 1));
        yield value.take();
        start = i + 1;
      }
    }
    value.add(piece.subarray(start));
  }
  if (!value.isBlank()) yield value.take();
}

/** Parts of a value, up to a limit. */
class Value {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(part: Buffer): void {
    const room = this.#maxBytes - this.#bytes;
    if (room > 0 && part.length > 0) this.#parts.push(part.subarray(0, room));
    this.#bytes += part.length;
  }

  /** True for white space, and for the commas and brackets of a list. */
  isBlank(): boolean {
    return betweenObjects.test(Buffer.concat(this.#parts).toString('utf8'));
  }

  /** Returns the value and begins the next. */
  take(): JsonValue {
    const value = { bytes: Buffer.concat(this.#parts), isTooLong: this.#bytes > this.#maxBytes };
    this.#parts = [];
    this.#bytes = 0;
    return value;
  }
}

/** Parses an object; undefined for anything else. */
export function objectOf(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return value as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}
