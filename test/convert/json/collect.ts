import { readFileSync } from 'node:fs';
import type { FileFormat } from '../../../src/convert/file-format.ts';
import type { EventDraft } from '../../../src/formats/format-reader.ts';

const folder = new URL('../../fixtures/formats/', import.meta.url);

export const readFixture = (name: string): Buffer => readFileSync(new URL(name, folder));

/** Objects of a fixture with one a line. */
export function readLines<Item>(name: string): Item[] {
  const lines = readFixture(name).toString('utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Item);
}

export interface Converted {
  readonly drafts: EventDraft[];
  readonly rejects: string[];
  readonly origins: Buffer[];
  skipped: number;
}

/** Converts a text or bytes, in chunks of a size that divides no line. */
export async function convertBytes(
  format: FileFormat,
  input: string | Buffer,
  model?: string,
): Promise<Converted> {
  const bytes = Buffer.from(input);
  const result: Converted = { drafts: [], rejects: [], origins: [], skipped: 0 };
  const file = {
    name: 'input.ndjson',
    async *open() {
      const size = bytes.length > 1_000_000 ? 1_000_003 : 97;
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    },
  };
  await format.convert(
    [file],
    { model },
    {
      draft: (event) => result.drafts.push(event),
      reject: (reason, detail, origin) => {
        result.rejects.push(`${reason}: ${detail}`);
        result.origins.push(origin.bytes());
      },
      skip: (count) => {
        result.skipped += count;
      },
    },
  );
  return result;
}
