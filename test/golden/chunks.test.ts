import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { ClickHouseClient } from '@clickhouse/client';
import { describe, it } from 'vitest';
import { deadLetterMessage } from '../../src/ingest/letters/dead-letter.ts';
import { chunkToken } from '../../src/sink/chunks/chunk.ts';
import { chunkColumnTypes } from '../../src/sink/chunks/chunk-columns.ts';
import { chunkParts } from '../../src/sink/chunks/chunk-parts.ts';
import { ClickHouseChunkStore } from '../../src/sink/chunks/chunk-store.ts';
import { type DecodedRow, decodeRows } from '../sink/decoded-row.ts';
import { digestOf, expectGolden, lineOf } from './expect-golden.ts';
import { type GoldenChunk, goldenChunks } from './sealed-chunks.ts';

/** The server's settings that inserts pin, each as its default. */
const inForce = [
  'async_insert',
  'insert_deduplicate',
  'deduplicate_blocks_in_dependent_materialized_views',
  'deduplicate_insert',
  'deduplicate_insert_select',
].map((name) => ({ name, value: '0', is_fixed: 0, user: 'ann' }));

/** A row as it is shown: without what is empty, and a digest of centroids as its means and weights. */
function shownRow({
  latency,
  censored_latency,
  ended_latency,
  ...row
}: DecodedRow): Map<string, unknown> {
  const isEmpty = (value: unknown) =>
    value === '' || value === 0 || value === false || (value instanceof Map && value.size === 0);
  const fields = Object.entries(row).filter(([, value]) => !isEmpty(value));
  const digests = Object.entries({ latency, censored_latency, ended_latency }).filter(
    ([, { size }]) => size > 0,
  );
  return new Map<string, unknown>([
    ...fields,
    ...digests.map(([name, { means, weights }]) => [name, [[...means], [...weights]]] as const),
  ]);
}

/** Rows as lines, what is the same in all of them first. */
function linesOfRows(rows: readonly Map<string, unknown>[]): string[] {
  const [first = new Map<string, unknown>()] = rows;
  const common = [...first.keys()].filter((field) =>
    rows.every((row) => lineOf(row.get(field)) === lineOf(first.get(field))),
  );
  const pick = (row: Map<string, unknown>, isCommon: boolean) =>
    lineOf(new Map([...row].filter(([field]) => common.includes(field) === isCommon)));
  return [`each row ${pick(first, true)}`, ...rows.map((row) => `row ${pick(row, false)}`)];
}

/** A digest of each column's values. */
function linesOfColumns(rows: readonly Map<string, unknown>[]): string[] {
  return Object.entries(chunkColumnTypes).map(([column, type]) => {
    const values = rows.map((row) => row.get(column) ?? null);
    return `column ${column} ${type} ${digestOf(lineOf(values))}`;
  });
}

function textOf({ name, isSmall, chunk, letters, longTexts }: GoldenChunk): string {
  const { rows, ...entry } = chunk;
  const { bytes, mark, days, ...counts } = rows;
  const shown = decodeRows(bytes).map(shownRow);
  return [
    `## ${name}`,
    `token ${chunkToken(chunk)}`,
    ...Object.entries(entry).map(([field, value]) => `${field} ${value}`),
    ...Object.entries(counts).map(([field, value]) => `rows.${field} ${value}`),
    `mark ${mark}, days ${lineOf(days)}`,
    ...chunkParts(days).map((part) => `part ${lineOf(part)}`),
    ...letters.map((letter) => `letter ${lineOf(deadLetterLine(letter))}`),
    ...longTexts.list().map((each) => `long text ${lineOf(each)}`),
    `block of ${bytes.length} bytes ${digestOf(bytes)}`,
    ...(isSmall ? linesOfRows(shown) : linesOfColumns(shown)),
    '',
  ].join('\n');
}

function deadLetterLine(letter: Parameters<typeof deadLetterMessage>[0]) {
  const { value, ...message } = deadLetterMessage(letter);
  return { ...message, value: value === null ? null : Buffer.from(value).toString('utf8') };
}

/** All that the store writes; each statement once. */
async function requestsOf({ chunk }: GoldenChunk): Promise<string> {
  const lines: string[] = [];
  const statements: string[] = [];
  const note = (title: string, sent: Readonly<Record<string, unknown>>) => {
    const fields = Object.entries(sent).map(([field, value]) => `  ${field} ${textOfField(value)}`);
    lines.push(title, ...fields);
  };
  const client = {
    exec: async ({ query, values, ...rest }: { query: string; values: Readable }) => {
      if (!statements.includes(query)) statements.push(query);
      const contents = digestOf(await buffer(values));
      note(`statement ${statements.indexOf(query) + 1}`, { ...rest, contents });
      return { stream: Readable.from([]) };
    },
    insert: async (given: Readonly<Record<string, unknown>>) => note('insert', given),
    query: async () => ({ json: async () => inForce }),
  } as unknown as ClickHouseClient;
  const store = new ClickHouseChunkStore(client, 'host/1');
  await store.insert(chunk);
  for (const part of chunkParts(chunk.rows.days)) await store.fill(chunk, part, 1);
  await store.record(chunk, 0);
  await store.record(chunk, 2);
  const numbered = statements.map(
    (text, i) => `statement ${i + 1}:\n${text.replaceAll(', ', ',\n  ')}`,
  );
  return [...numbered, ...lines].join('\n');
}

function textOfField(value: unknown): string {
  return typeof value === 'string' ? value.trimEnd() : lineOf(value);
}

describe('chunks of fixed records', () => {
  it('are encoded as recorded, with their tokens, marks, counts, parts and dead letters', () => {
    expectGolden('chunks/chunks.txt', goldenChunks().map(textOf).join('\n'));
  });

  it('are sent to ClickHouse as recorded: statements, settings, parameters, the ledger’s row', async () => {
    const [first] = goldenChunks();
    expectGolden('chunks/requests.txt', first === undefined ? '' : await requestsOf(first));
  });
});
