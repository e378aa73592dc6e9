import type { FileFormat } from '../../../src/convert/file-format.ts';
import type { EventDraft } from '../../../src/formats/format-reader.ts';

/** Returns where a file of another software lies. */
export function fixture(name: string): URL {
  return new URL(`../../fixtures/formats/${name}`, import.meta.url);
}

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

/** Returns all that a format makes of a file's bytes. */
export async function results(format: FileFormat, content: Buffer | string, chunkBytes = 65_536) {
  const bytes = Buffer.from(content);
  const drafts: { event: EventDraft; bytes: Buffer }[] = [];
  const rejects: { reason: string; detail: string; bytes: Buffer }[] = [];
  let skipped = 0;
  const file = { name: 'spans.json', open: () => chunksOf(bytes, chunkBytes) };
  await format.convert(
    [file],
    {},
    {
      draft: (event, origin) => drafts.push({ event: present(event), bytes: origin.bytes() }),
      reject: (reason, detail, origin) => rejects.push({ reason, detail, bytes: origin.bytes() }),
      skip: (count) => {
        skipped += count;
      },
    },
  );
  return { drafts, rejects, skipped };
}

/** Returns the event without what is absent. */
function present(event: EventDraft): EventDraft {
  return Object.fromEntries(Object.entries(event).filter(([, value]) => value !== undefined));
}
