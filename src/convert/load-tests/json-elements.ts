/** Longest element that is read. */
const maxElementBytes = 1024 * 1024;

const code = (character: string) => character.charCodeAt(0);
const quote = code('"');
const backslash = code('\\');
const opening = new Set([code('['), code('{')]);
const closing = new Set([code(']'), code('}')]);

/** An element of an array: an object or an array. */
interface JsonElement {
  /** Counts from 1. */
  readonly number: number;
  /** Undefined where it is longer than 1 MiB or where the file ends within. */
  readonly text: string | undefined;
}

/** Follows JSON byte by byte: how deep it is, and whether it is inside a text. */
class JsonDepth {
  depth = 0;
  #isText = false;
  #isEscaped = false;

  push(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (this.#isText) {
      if (byte === backslash) this.#isEscaped = true;
      else if (byte === quote) this.#isText = false;
    } else if (byte === quote) this.#isText = true;
    else if (opening.has(byte)) this.depth++;
    else if (closing.has(byte)) this.depth--;
  }
}

/**
 * Yields the objects of a JSON array as texts, one at a time: memory does not grow with the array. What is
 * between them is not checked. A file that ends within an element yields it without its text.
 */
export async function* jsonElements(
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<JsonElement, void> {
  const json = new JsonDepth();
  let pieces: Buffer[] = [];
  let byteCount = 0;
  let number = 1;
  const keep = (piece: Buffer) => {
    byteCount += piece.length;
    if (byteCount > maxElementBytes) pieces = [];
    else pieces.push(piece);
  };
  for await (const chunk of chunks) {
    let start = json.depth >= 2 ? 0 : -1;
    for (let at = 0; at < chunk.length; at++) {
      const before = json.depth;
      json.push(chunk[at] ?? 0);
      if (before === 1 && json.depth === 2) start = at;
      if (before === 2 && json.depth === 1) {
        keep(chunk.subarray(start, at + 1));
        const isTooLong = byteCount > maxElementBytes;
        yield { number, text: isTooLong ? undefined : Buffer.concat(pieces).toString() };
        pieces = [];
        byteCount = 0;
        number++;
        start = -1;
      }
    }
    if (start >= 0) keep(chunk.subarray(start));
  }
  if (json.depth > 0) yield { number, text: undefined };
}
