import type { FileFormat } from '../../../src/convert/file-format.ts';
import { convert, textFile } from '../conversion.ts';

/** Returns all that a format makes of a file's bytes. */
export async function results(format: FileFormat, content: Buffer | string, chunkBytes = 65_536) {
  const { events, origins, rejects, skipped } = await convert(
    format,
    textFile(content, chunkBytes),
  );
  const drafts = events.map((event, i) => ({ event, bytes: origins[i] ?? '' }));
  return { drafts, rejects, skipped };
}
