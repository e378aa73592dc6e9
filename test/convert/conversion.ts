import { createReadStream, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createGunzip, gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import type { ConvertOptions, FileFormat, InputFile } from '../../src/convert/file-format.ts';
import type { DraftSink, EventDraft } from '../../src/formats/format-reader.ts';

const fixtures = new URL('../fixtures/formats/', import.meta.url);

/** A file of the fixtures, inflated where it is gzipped. */
export function fixture(path: string): InputFile {
  const open = (): AsyncIterable<Buffer> => {
    const stream = createReadStream(fileURLToPath(new URL(path, fixtures)));
    return path.endsWith('.gz') ? stream.pipe(createGunzip()) : stream;
  };
  return { name: path.split('/').at(-1) ?? path, open };
}

/** The bytes of such a file. */
export function fixtureBytes(path: string): Buffer {
  const bytes = readFileSync(new URL(path, fixtures));
  return path.endsWith('.gz') ? gunzipSync(bytes) : bytes;
}

export function fixtureText(path: string): string {
  return fixtureBytes(path).toString();
}

/** A file with this text, in chunks of a few bytes: every boundary is met. */
export function textFile(text: string | Buffer, chunkBytes = 7): InputFile {
  return {
    name: 'text',
    async *open() {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; at += chunkBytes)
        yield bytes.subarray(at, at + chunkBytes);
    },
  };
}

interface Rejected {
  readonly reason: string;
  readonly detail: string;
  readonly bytes: string;
}

/** What became of files. */
interface Conversion {
  /** Without what is undefined. */
  readonly events: EventDraft[];
  /** Bytes of each event's origin. */
  readonly origins: string[];
  readonly rejects: Rejected[];
  skipped: number;
}

export async function convert(
  format: FileFormat,
  files: InputFile | readonly InputFile[],
  options: ConvertOptions = {},
): Promise<Conversion> {
  const result: Conversion = { events: [], rejects: [], origins: [], skipped: 0 };
  const sink: DraftSink = {
    draft(event, origin) {
      const present = Object.entries(event).filter(([, value]) => value !== undefined);
      result.events.push(Object.fromEntries(present));
      result.origins.push(origin.bytes().toString());
    },
    reject(reason, detail, origin) {
      result.rejects.push({ reason, detail, bytes: origin.bytes().toString('latin1') });
    },
    skip(count) {
      result.skipped += count;
    },
  };
  await format.convert(Array.isArray(files) ? files : [files as InputFile], options, sink);
  return result;
}

export function expectedEvents(name: string): EventDraft[] {
  const texts = fixtureText(`expected/${name}.ndjson`).trimEnd().split('\n');
  return texts.map((text) => JSON.parse(text) as EventDraft);
}

const nanoseconds = (ms: unknown) => Math.round(Number(ms) * 1e6);

/** The event with durations in whole nanoseconds, its keys in order and what is undefined left out. */
function canonical(event: EventDraft): string {
  const stages = Object.entries(event.stages_ms ?? {}).map(
    ([name, ms]) => [name, nanoseconds(ms)] as const,
  );
  const { total_ms, stages_ms, ...others } = event;
  const fields = Object.entries({ ...others, total: nanoseconds(total_ms) });
  const named = fields.filter(([, value]) => value !== undefined).sort();
  return JSON.stringify([named, stages.sort()]);
}

/** Compares every event; the order of events that ended in another order than they started is not compared. */
export function expectSameEvents(actual: readonly EventDraft[], expected: readonly EventDraft[]) {
  expect(actual.map(canonical).sort()).toEqual(expected.map(canonical).sort());
}
