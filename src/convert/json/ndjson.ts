/** A line of a file, without its end. */
export interface Line {
  /** Its bytes; of a line that is too long, those that fit. */
  readonly bytes: Buffer;
  readonly tooLong: boolean;
}

const newline = 0x0a;
const carriageReturn = 0x0d;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Splits a stream into lines that end with LF or CRLF, without those that are blank and without a byte order
 * mark. Of a line that is too long it keeps what fits, so memory is bounded.
 */
export async function* linesOf(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<Line> {
  let parts: Buffer[] = [];
  let length = 0;
  let isFirst = true;
  const keep = (part: Buffer) => {
    const room = maxBytes - Math.min(length, maxBytes);
    if (room > 0 && part.length > 0) parts.push(part.subarray(0, room));
    length += part.length;
  };
  const take = (): Line | undefined => {
    let bytes = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
    const tooLong = length > maxBytes;
    parts = [];
    length = 0;
    if (isFirst && bytes.subarray(0, 3).equals(byteOrderMark)) bytes = bytes.subarray(3);
    isFirst = false;
    if (bytes.at(-1) === carriageReturn) bytes = bytes.subarray(0, -1);
    return isBlank(bytes) ? undefined : { bytes, tooLong };
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      keep(chunk.subarray(from, at));
      from = at + 1;
      const line = take();
      if (line !== undefined) yield line;
    }
    keep(chunk.subarray(from));
  }
  const last = take();
  if (last !== undefined) yield last;
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09);
}
