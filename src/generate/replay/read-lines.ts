import { lineGroups } from '../../source/line-groups.ts';

/** Longest line that is held in memory; a longer one shows that the file is not NDJSON. */
const maxBytes = 64 * 1024 * 1024;

/**
 * Reads the lines of a stream without their ends, grouped by chunk; memory holds a chunk and a line. The end
 * of the last line is optional. @throws {RangeError} for a line beyond 64 MiB
 */
export async function* readLines(
  stream: AsyncIterable<Buffer | string>,
): AsyncGenerator<readonly Buffer[], void> {
  const onTooLong = () => {
    throw new RangeError('a line is longer than 64 MiB');
  };
  for await (const group of lineGroups(stream, { maxBytes, onTooLong })) {
    const lines = [...group].map(({ value }) => value);
    if (lines.length > 0) yield lines;
  }
}
