import { lineGroups } from '../source/line-groups.ts';

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

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Reads the lines of a file. It holds one line at a time, so memory does not grow with the file. */
export async function* byteLines(
  chunks: AsyncIterable<Buffer>,
  maxBytes = maxLineBytes,
): AsyncGenerator<ByteLine, void> {
  let number = 0;
  for await (const group of lineGroups(chunks, { maxBytes })) {
    for (const { value, originalBytes } of group) {
      number++;
      const isMarked = number === 1 && value.subarray(0, 3).equals(byteOrderMark);
      const bytes = isMarked ? value.subarray(3) : value;
      yield { number, bytes, isTooLong: originalBytes > maxBytes };
    }
  }
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
