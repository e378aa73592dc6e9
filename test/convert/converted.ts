import { createReadStream, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createGunzip } from 'node:zlib';
import type { ConvertOptions, FileFormat, InputFile } from '../../src/convert/file-format.ts';
import type { EventDraft } from '../../src/formats/format-reader.ts';

const folder = new URL('../fixtures/formats/', import.meta.url).pathname;

/** What a conversion gave. */
export interface Converted {
  readonly events: readonly EventDraft[];
  /** `reason: detail` of each rejection. */
  readonly rejected: readonly string[];
  readonly skipped: number;
}

/** Converts fixtures by their paths below test/fixtures/formats. */
export function convertFixtures(
  format: FileFormat,
  paths: readonly string[],
  options: ConvertOptions = {},
): Promise<Converted> {
  return converted(format, paths.map(fixture), options);
}

/** Converts a text in pieces of some bytes, which end anywhere. */
export function convertText(
  format: FileFormat,
  text: string | Buffer,
  options: ConvertOptions = {},
  pieceBytes = 7,
): Promise<Converted> {
  const bytes = Buffer.from(text);
  const file: InputFile = {
    name: 'text',
    async *open() {
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        yield bytes.subarray(at, at + pieceBytes);
      }
    },
  };
  return converted(format, [file], options);
}

async function converted(
  format: FileFormat,
  files: readonly InputFile[],
  options: ConvertOptions,
): Promise<Converted> {
  const events: EventDraft[] = [];
  const rejected: string[] = [];
  let skipped = 0;
  await format.convert(files, options, {
    draft: (event) => events.push(JSON.parse(JSON.stringify(event)) as EventDraft),
    reject: (reason, detail) => rejected.push(`${reason}: ${detail}`),
    skip: (count) => {
      skipped += count;
    },
  });
  return { events, rejected, skipped };
}

function fixture(path: string): InputFile {
  return {
    name: basename(path),
    async *open() {
      const raw = createReadStream(join(folder, path));
      const text = path.endsWith('.gz') ? raw.pipe(createGunzip()) : raw;
      for await (const piece of text) yield piece as Buffer;
    },
  };
}

/** Events that a correct conversion gives, milliseconds rounded to 1e-6 as those of `rounded`. */
export function expectedEvents(name: string): readonly EventDraft[] {
  const text = readFileSync(join(folder, 'expected', name), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => rounded(JSON.parse(line) as EventDraft));
}

/** An event with its milliseconds in steps of 1e-6. */
export function rounded(event: EventDraft): EventDraft {
  const round = (ms: number) => Math.round(ms * 1e6) / 1e6;
  const { stages_ms, total_ms } = event;
  return {
    ...event,
    ...(total_ms === undefined ? {} : { total_ms: round(total_ms) }),
    ...(stages_ms === undefined
      ? {}
      : {
          stages_ms: Object.fromEntries(
            Object.entries(stages_ms).map(([name, ms]) => [name, round(ms)]),
          ),
        }),
  };
}
