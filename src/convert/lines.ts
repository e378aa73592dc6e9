/** Longest line that is read unless the caller says less. */
const maxLineBytes = 16 * 1024 * 1024;

/** A line of a text file, without its end (LF or CRLF) and without a byte order mark. */
export interface Line {
  /** Counts from 1. */
  readonly number: number;
  /** Text as UTF-8; undefined where the line is longer than the limit. */
  readonly text: string | undefined;
}

const newline = 0x0a;
const carriageReturn = 0x0d;

/** Gathers the bytes of a line; of a line that is too long it keeps none. */
class LineBuffer {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #byteCount = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isEmpty(): boolean {
    return this.#byteCount === 0;
  }

  add(piece: Buffer): void {
    this.#byteCount += piece.length;
    if (this.#byteCount > this.#maxBytes) this.#pieces = [];
    else if (piece.length > 0) this.#pieces.push(piece);
  }

  /** Returns the text and starts the next line. */
  take(isFirst: boolean): string | undefined {
    const isTooLong = this.#byteCount > this.#maxBytes;
    const [only] = this.#pieces;
    const bytes =
      only !== undefined && this.#pieces.length === 1 ? only : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#byteCount = 0;
    if (isTooLong) return undefined;
    const end = bytes.at(-1) === carriageReturn ? bytes.length - 1 : bytes.length;
    const text = bytes.toString('utf8', 0, end);
    return isFirst && text.startsWith('\ufeff') ? text.slice(1) : text;
  }
}

/**
 * Splits a stream of bytes into lines. It holds one line at a time, so memory does not grow with the file.
 * A last line without an end is a line too.
 */
export async function* lines(
  chunks: AsyncIterable<Buffer>,
  maxBytes = maxLineBytes,
): AsyncGenerator<Line, void> {
  const line = new LineBuffer(maxBytes);
  let number = 1;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      line.add(chunk.subarray(start, end));
      yield { number, text: line.take(number === 1) };
      number++;
      start = end + 1;
    }
    line.add(chunk.subarray(start));
  }
  if (!line.isEmpty) yield { number, text: line.take(number === 1) };
}
