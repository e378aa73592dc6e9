/** An object of a stream, or text that is none. */
interface JsonPart {
  /** Counts from 1. */
  readonly number: number;
  /** Its text; of one beyond the limit, the beginning. */
  readonly text: string;
  /** False for one beyond the limit, and where the file ends within it or its list. */
  readonly isWhole: boolean;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const betweenObjects = /^[\s,[\]\ufeff]*$/;

/**
 * Splits a stream into its objects by brackets and strings alone: the elements of a list, or one after
 * another. A list on one line may be of any length. Other text between them is yielded as a separate part.
 *
 * Memory: one object, at most `maxBytes`.
 */
export async function* jsonObjects(
  pieces: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<JsonPart, void> {
  const part = new Part(maxBytes);
  let depth = 0;
  let openLists = 0;
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
      } else if (byte === OPEN_BRACKET && depth === 0) {
        openLists++;
      } else if (byte === CLOSE_BRACKET && depth === 0) {
        openLists--;
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        if (depth === 0) {
          part.add(piece.subarray(start, i));
          if (part.isBlank()) part.drop();
          else yield part.take();
          start = i;
        }
        depth++;
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        if (depth === 0 || --depth > 0) continue;
        part.add(piece.subarray(start, i + 1));
        yield part.take();
        start = i + 1;
      }
    }
    part.add(piece.subarray(start));
  }
  const isCut = depth > 0 || openLists > 0;
  if (isCut || !part.isBlank()) yield part.take(!isCut);
}

/** Pieces of a part, up to a limit. */
class Part {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #number = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(piece: Buffer): void {
    const room = this.#maxBytes - this.#bytes;
    if (room > 0 && piece.length > 0) this.#pieces.push(piece.subarray(0, room));
    this.#bytes += piece.length;
  }

  /** True for white space, and for the commas and brackets of a list. */
  isBlank(): boolean {
    return this.#bytes <= this.#maxBytes && betweenObjects.test(this.#text());
  }

  drop(): void {
    this.#pieces = [];
    this.#bytes = 0;
  }

  /** Returns the part and begins the next. */
  take(isComplete = true): JsonPart {
    const isWhole = isComplete && this.#bytes <= this.#maxBytes;
    const part = { number: ++this.#number, text: this.#text(), isWhole };
    this.drop();
    return part;
  }

  #text(): string {
    return Buffer.concat(this.#pieces).toString('utf8');
  }
}
