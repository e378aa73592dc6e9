const NEWLINE = 10;
const MAX_LINE_BYTES = 1024 * 1024;

/**
 * Yields the lines of a log without their ends. Of a line beyond 1 MiB the rest is dropped: it is a traceback
 * or not a log. Memory: one line and one piece.
 */
export async function* logLines(pieces: AsyncIterable<Buffer>): AsyncGenerator<string, void> {
  let parts: Buffer[] = [];
  let bytes = 0;
  const add = (part: Buffer) => {
    if (bytes < MAX_LINE_BYTES) parts.push(part.subarray(0, MAX_LINE_BYTES - bytes));
    bytes += part.length;
  };
  const take = () => {
    const line = Buffer.concat(parts).toString('utf8').replace(/\r$/, '');
    parts = [];
    bytes = 0;
    return line;
  };
  for await (const piece of pieces) {
    let start = 0;
    for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, start)) {
      add(piece.subarray(start, end));
      start = end + 1;
      yield take();
    }
    add(piece.subarray(start));
  }
  if (bytes > 0) yield take();
}
