/** What should be one JSON value; `undefined`: longer than allowed, and dropped. */
type JsonText = string | undefined;

/** Longest value. Whole files of one value are held in memory as one. */
const maxBytes = 256 * 1024 * 1024;

const lineFeed = 0x0a;
const quote = 0x22;
const backslash = 0x5c;
/** Makes a square bracket the brace of its side; a brace stays. */
const toBrace = 0x20;
const openingBrace = 0x7b;
const closingBrace = 0x7d;

/**
 * Splits a file into JSON values that each end with a line: one a line, or one over many. Nothing is held but
 * the value that is read.
 *
 * @param start how a line begins that cannot be inside a value: it ends what was left open, so a cut line
 *   costs no other.
 */
export async function* jsonValues(
  chunks: AsyncIterable<Buffer>,
  start?: string,
): AsyncGenerator<JsonText> {
  const value = new Value();
  for await (const line of lines(chunks)) {
    if (start !== undefined && value.isOpen && line.toString('latin1', 0, start.length) === start) {
      yield* value.take();
    }
    value.add(line);
    if (!value.isOpen) yield* value.take();
  }
  yield* value.take();
}

class Value {
  #lines: Buffer[] = [];
  #bytes = 0;
  #depth = 0;

  get isOpen(): boolean {
    return this.#depth > 0;
  }

  add(line: Buffer): void {
    this.#depth = Math.max(0, this.#depth + depthOf(line));
    this.#bytes += line.length;
    if (this.#bytes > maxBytes) this.#lines = [];
    else this.#lines.push(line);
  }

  /** Returns the value if there is one, and begins another. */
  take(): JsonText[] {
    const isTooLong = this.#bytes > maxBytes;
    const text = Buffer.concat(this.#lines)
      .toString()
      .replace(/^\uFEFF/, '')
      .trim();
    this.#lines = [];
    this.#bytes = 0;
    this.#depth = 0;
    if (isTooLong) return [undefined];
    return text === '' ? [] : [text];
  }
}

/** Returns how many more brackets a line opens than it closes. No string of JSON goes beyond its line. */
function depthOf(line: Buffer): number {
  let depth = 0;
  for (let at = 0; at < line.length; at++) {
    const byte = line[at]!;
    if (byte === quote) at = endOfString(line, at);
    else if ((byte | toBrace) === openingBrace) depth++;
    else if ((byte | toBrace) === closingBrace) depth--;
  }
  return depth;
}

/** Returns where the string ends that begins at a quote; the line's end if it does not. */
function endOfString(line: Buffer, begin: number): number {
  let end = line.indexOf(quote, begin + 1);
  while (end >= 0) {
    let escapes = 0;
    while (line[end - 1 - escapes] === backslash) escapes++;
    if (escapes % 2 === 0) return end;
    end = line.indexOf(quote, end + 1);
  }
  return line.length;
}

/** Splits bytes at line feeds, which stay. A line too long for a value comes in parts. */
async function* lines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(lineFeed, from);
      if (end < 0) break;
      rest.push(chunk.subarray(from, end + 1));
      yield rest.length === 1 ? rest[0]! : Buffer.concat(rest);
      rest = [];
      restBytes = 0;
      from = end + 1;
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
    restBytes += chunk.length - from;
    if (restBytes > maxBytes) {
      yield Buffer.concat(rest);
      rest = [];
      restBytes = 0;
    }
  }
  if (rest.length > 0) yield Buffer.concat(rest);
}
