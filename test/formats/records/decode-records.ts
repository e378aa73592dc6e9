import { readFileSync } from 'node:fs';
import { readMapping } from '../../../src/config/read/presets.ts';
import type { DecodeSink } from '../../../src/decode/event-decoder.ts';
import { Interner } from '../../../src/decode/interner.ts';
import { compileMapping } from '../../../src/formats/mapping/compile-mapping.ts';
import { mappingSchema } from '../../../src/formats/mapping/mapping-schema.ts';
import { RecordDecoder } from '../../../src/formats/records/record-decoder.ts';
import type { RecordReader } from '../../../src/formats/records/record-reader.ts';
import type {
  MissingSchema,
  RegisteredSchema,
  SchemaSource,
} from '../../../src/formats/records/schema-source.ts';
import type { ReadHeaders } from '../../../src/source/record.ts';
import { bounds, type Outcome, textsOf } from '../../decode/outcomes.ts';

export const fixture = (path: string) =>
  readFileSync(new URL(`../../fixtures/formats/${path}`, import.meta.url));

/** Values of the messages in a file of the data pack. */
export function messagesOf(path: string): Buffer[] {
  return fixture(path)
    .toString()
    .trim()
    .split('\n')
    .map((line) => Buffer.from((JSON.parse(line) as { value_b64: string }).value_b64, 'base64'));
}

/** Compiles a mapping of docs/how-to/schema-registry.md: the block that begins with `# name`. */
export function documentedMapping(name: string) {
  const page = new URL('../../../docs/how-to/schema-registry.md', import.meta.url);
  const text = readFileSync(page, 'utf8');
  const block = new RegExp(`^ {4}# ${name}\n((?: {4}.*\n)+)`, 'm').exec(text)?.[1] ?? '';
  return mappingOf(block.replace(/^ {4}/gm, ''));
}

export function mappingOf(yaml: string) {
  return compileMapping(mappingSchema.parse(readMapping(yaml, 'mapping.yaml').value));
}

/** A registry in memory. */
export function schemasOf(
  schemas: Readonly<Record<number | string, RegisteredSchema | MissingSchema>>,
): SchemaSource {
  return {
    get: (id) => schemas[id] ?? { missing: 'the registry has none with that id' },
    fetch: async () => undefined,
  };
}

export type RecordOutcome =
  | Outcome
  | { readonly skipped: number }
  | { readonly reason: string; readonly detail: string };

/** A decoder, and what becomes of each part of a message. */
export function recordDecoder(
  reader: RecordReader,
  map?: ReturnType<typeof compileMapping>,
  maxMessageBytes = 16 << 20,
) {
  const stages = new Interner(256);
  const values = new Interner(100_000);
  const decoder = new RecordDecoder({ reader, map, stages, values, maxMessageBytes, ...bounds });
  const decode = (message: Buffer | null, headers?: ReadHeaders) => {
    const outcomes: RecordOutcome[] = [];
    const letters: Buffer[] = [];
    const keep = (start: number, end: number) => {
      if (message !== null) letters.push(Buffer.from(decoder.letter(message, start, end)));
    };
    const sink: DecodeSink = {
      event(event, start, end) {
        outcomes.push(textsOf(event, stages, values));
        keep(start, end);
      },
      reject(index, reason, detail, start, end) {
        outcomes.push({ reason, detail, index, start, end });
        keep(start, end);
      },
      skip: (count) => outcomes.push({ skipped: count }),
    };
    const consumed = decoder.decode(message, sink, headers);
    return { consumed, outcomes, letters };
  };
  return { decoder, decode };
}

/** Reason and detail of a message that is rejected whole. */
export function rejectionOf({ outcomes }: { readonly outcomes: readonly RecordOutcome[] }): string {
  const [first] = outcomes;
  if (first === undefined || !('detail' in first)) return `not rejected: ${JSON.stringify(first)}`;
  return `${first.reason}: ${first.detail}`;
}
