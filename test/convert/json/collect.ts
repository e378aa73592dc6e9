import type { FileFormat } from '../../../src/convert/file-format.ts';
import { convert, fixtureText, textFile } from '../conversion.ts';

/** Objects of a fixture with one a line. */
export function readLines<Item>(name: string): Item[] {
  const lines = fixtureText(name).split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Item);
}

/** Converts a text or bytes, in chunks of a size that divides no line; `origins` are those of rejects. */
export async function convertBytes(format: FileFormat, input: string | Buffer, model?: string) {
  const chunkBytes = input.length > 1_000_000 ? 1_000_003 : 97;
  const file = textFile(input, chunkBytes);
  const { events, rejects, skipped } = await convert(format, file, { model });
  return {
    drafts: events,
    rejects: rejects.map(({ reason, detail }) => `${reason}: ${detail}`),
    origins: rejects.map(({ bytes }) => Buffer.from(bytes, 'latin1')),
    skipped,
  };
}
