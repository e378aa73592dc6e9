/** A line, or the beginning of one that is too long. */
export interface Line {
  /** Its bytes without the end; of a line that is too long, the first `keptBytes`. */
  readonly value: Buffer;
  readonly originalBytes: number;
}

export interface LineOptions {
  /** Longest line that is held as a whole. */
  readonly maxBytes: number;
  /** Bytes that are kept of a longer one. @default {maxBytes} */
  readonly keptBytes?: number;
  /** Called for a line that is too long, as soon as that is known; may throw. @default its beginning is kept */
  readonly onTooLong?: () => void;
}

/**
 * Splits bytes into lines that end with LF or CRLF; the last one needs no end. Each group has the lines that
 * end in a piece of the stream, and must be read before the next one. Memory: a piece, and a line.
 */
export async function* lineGroups(
  stream: AsyncIterable<Buffer | string>,
  options: LineOptions,
): AsyncGenerator<Iterable<Line>, void, void> {
  const rest = new LineParts(options);
  for await (const piece of stream) {
    yield linesIn(typeof piece === 'string' ? Buffer.from(piece) : piece, rest);
  }
  if (!rest.isEmpty) yield [rest.next()];
}

/** Yields the lines that end in a piece; the beginning of another one stays in `rest`. */
function* linesIn(bytes: Buffer, rest: LineParts): Generator<Line, void> {
  let start = 0;
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
    rest.add(bytes.subarray(start, end));
    start = end + 1;
    yield rest.next();
  }
  if (start < bytes.length) rest.add(bytes.subarray(start));
}

/** Collects the parts of an incomplete line. */
class LineParts {
  readonly #maxBytes: number;
  readonly #keptBytes: number;
  readonly #onTooLong: () => void;
  #parts: Buffer[] = [];
  #bytes = 0;
  #endsInReturn = false;

  constructor({ maxBytes, keptBytes = maxBytes, onTooLong = () => undefined }: LineOptions) {
    this.#maxBytes = maxBytes;
    this.#keptBytes = Math.min(keptBytes, maxBytes);
    this.#onTooLong = onTooLong;
  }

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  add(part: Buffer): void {
    if (part.length === 0) return;
    const bytesBefore = this.#bytes;
    this.#bytes += part.length;
    this.#endsInReturn = part[part.length - 1] === 13;
    // The last byte may be a carriage return, which does not count.
    if (this.#bytes <= this.#maxBytes + 1) this.#parts.push(part);
    else if (bytesBefore <= this.#maxBytes + 1) {
      this.#onTooLong();
      this.#truncate(part);
    }
  }

  /** Returns the line without a trailing carriage return, and starts the next one. */
  next(): Line {
    const originalBytes = this.#bytes - (this.#endsInReturn ? 1 : 0);
    if (originalBytes > this.#maxBytes) {
      this.#onTooLong();
      this.#truncate(Buffer.alloc(0));
    }
    const [first] = this.#parts;
    const all =
      this.#parts.length === 1 && first !== undefined ? first : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    this.#endsInReturn = false;
    return { value: all.subarray(0, originalBytes), originalBytes };
  }

  /** Copies the beginning, so that the rest can be garbage-collected. */
  #truncate(more: Buffer): void {
    const all = Buffer.concat([...this.#parts, more]);
    this.#parts = [Buffer.from(all.subarray(0, this.#keptBytes))];
  }
}
