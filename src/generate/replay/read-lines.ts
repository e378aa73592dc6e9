/** Longest line that is held in memory; a longer one shows that the file is not NDJSON. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;
const NEWLINE = 10;
const RETURN = 13;

/**
 * Reads the lines of a stream without their ends, grouped by chunk; memory holds a chunk and a line. The end
 * of the last line is optional. @throws {RangeError} for a line beyond 64 MiB
 */
export async function* readLines(
  stream: AsyncIterable<Buffer | string>,
): AsyncGenerator<readonly Buffer[], void> {
  let partial: Buffer[] = [];
  let partialBytes = 0;
  for await (const part of stream) {
    const bytes = typeof part === 'string' ? Buffer.from(part) : part;
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      partial.push(bytes.subarray(start, end));
      lines.push(joined(partial));
      partial = [];
      partialBytes = 0;
      start = end + 1;
    }
    if (start < bytes.length) {
      partial.push(bytes.subarray(start));
      partialBytes += bytes.length - start;
      if (partialBytes > MAX_LINE_BYTES) throw new RangeError('a line is longer than 64 MiB');
    }
    if (lines.length > 0) yield lines;
  }
  if (partial.length > 0) yield [joined(partial)];
}

function joined(parts: readonly Buffer[]): Buffer {
  const line = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
  return line[line.length - 1] === RETURN ? line.subarray(0, -1) : line;
}
