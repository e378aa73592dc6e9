/** Longest line that is read unless the caller says less. */
const maxLineBytes = 16 * 1024 * 1024;

/** A line of a file, without its end (LF or CRLF) and without a byte order mark. */
interface ByteLine {
  /** Counts from 1. */
  readonly number: number;
  /** Its bytes; of a line that is too long, those that fit. */
  readonly bytes: Buffer;
  readonly isTooLong: boolean;
}

/** The same as text. */
export interface Line {
  readonly number: number;
  /** Text as UTF-8; undefined where the line is longer than the limit. */
  readonly text: string | undefined;
}

const newline = 0x0a;
const carriageReturn = 0x0d;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Gathers the bytes of a line, up to the limit. */
class LineBuffer {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #byteCount = 0;
  #number = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isEmpty(): boolean {
    return this.#byteCount === 0;
  }

  add(piece: Buffer): void {
    const room = this.#maxBytes - this.#byteCount;
    if (room > 0 && piece.length > 0) this.#pieces.push(piece.subarray(0, room));
    this.#byteCount += piece.length;
  }

  /** Returns the line and starts the next one. */
  take(): ByteLine {
    const [only] = this.#pieces;
    let bytes =
      only !== undefined && this.#pieces.length === 1 ? only : Buffer.concat(this.#pieces);
    const isTooLong = this.#byteCount > this.#maxBytes;
    this.#pieces = [];
    this.#byteCount = 0;
    this.#number++;
    if (this.#number === 1 && bytes.subarray(0, 3).equals(byteOrderMark)) bytes = bytes.subarray(3);
    if (bytes.at(-1) === carriageReturn) bytes = bytes.subarray(0, -1);
    return { number: this.#number, bytes, isTooLong };
  }
}

/**
 * Splits a stream of bytes into lines. It holds one line at a time, so memory does not grow with the file.
 * A last line without an end is a line too.
 */
export async function* byteLines(
  chunks: AsyncIterable<Buffer>,
  maxBytes = maxLineBytes,
): AsyncGenerator<ByteLine, void> {
  const line = new LineBuffer(maxBytes);
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      line.add(chunk.subarray(start, end));
      start = end + 1;
      yield line.take();
    }
    line.add(chunk.subarray(start));
  }
  if (!line.isEmpty) yield line.take();
}

/** Splits a stream of bytes into lines of text; see `byteLines`. */
export async function* lines(
  chunks: AsyncIterable<Buffer>,
  maxBytes = maxLineBytes,
): AsyncGenerator<Line, void> {
  for await (const { number, bytes, isTooLong } of byteLines(chunks, maxBytes)) {
    yield { number, text: isTooLong ? undefined : bytes.toString('utf8') };
  }
}
