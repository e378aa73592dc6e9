import { byteLines } from './lines.ts';

/** A text that should be one JSON value; `undefined`: longer than allowed, and dropped. */
type JsonText = string | undefined;

/** Longest value. Whole files of one value are held in memory as one. */
const maxBytes = 256 * 1024 * 1024;

/** Detail of a value that is longer. */
export const tooLongValue = 'A value must be at most 256 MiB, and is longer.';

const lineFeed = Buffer.from('\n');
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
  for await (const { bytes, isTooLong } of byteLines(chunks, maxBytes)) {
    const begins = start !== undefined && bytes.toString('latin1', 0, start.length) === start;
    if (begins && value.isOpen) yield* value.take();
    value.add(bytes, isTooLong);
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

  /** Adds a line. One that is too long ends its value, as the brackets it closes are not known. */
  add(line: Buffer, isTooLong: boolean): void {
    this.#depth = isTooLong ? 0 : Math.max(0, this.#depth + depthOf(line));
    this.#bytes += isTooLong ? Number.POSITIVE_INFINITY : line.length + lineFeed.length;
    if (this.#bytes > maxBytes) this.#lines = [];
    else this.#lines.push(line, lineFeed);
  }

  /** Returns the value if there is one, and begins another. */
  take(): JsonText[] {
    const isTooLong = this.#bytes > maxBytes;
    const text = Buffer.concat(this.#lines).toString().trim();
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
