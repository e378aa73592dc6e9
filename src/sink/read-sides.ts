import type { ClickHouseClient } from '@clickhouse/client';
import { sizeFacets } from '../base/facets.ts';
import { type ComparedMinute, paired } from '../compare/compared-minute.ts';
import type { MixPart, SideMix, SizePart } from '../compare/like-with-like.ts';
import { decodeState } from '../sketch/clickhouse-state.ts';
import { repeatableSettings } from './query-settings.ts';
import { addStage, type ReadMinute } from './read-comparison.ts';
import { readFacets } from './read-facets.ts';
import { rowBinaryOf } from './row-binary/row-binary-of.ts';
import { RowBinaryReader } from './row-binary/row-binary-reader.ts';

/** One side of a comparison: a version, or ('') all of them, over a range of whole blocks. */
export interface ComparedSide {
  readonly version: string;
  readonly fromSeconds: number;
  readonly toSeconds: number;
}

/** Selects what is compared on both sides; '' matches any value. */
export interface SidesQuery {
  readonly model: string;
  readonly region: string;
  readonly requestType: string;
  readonly coldStart: string;
  readonly table: string;
  /** Length of what is compared as one: whole windows of the table. */
  readonly blockSeconds: number;
  readonly a: ComparedSide;
  readonly b: ComparedSide;
}

/** Parts of a mix that are read; beyond them are those with the fewest requests. */
const mostParts = 500;

/**
 * Reads the blocks of two sides, the first of A beside the first of B. So ranges are compared as versions are:
 * `baseline` is A, `candidate` is B.
 */
export async function readSides(
  client: ClickHouseClient,
  query: SidesQuery,
): Promise<ComparedMinute[]> {
  const { a, b, ...of } = query;
  const [baselines, candidates] = await Promise.all(
    [a, b].map(async (side) => {
      const parameters = { ...of, ...side };
      return decodeBlocks(
        await rowBinaryOf(client, 'comparison_blocks', parameters, repeatableSettings),
      );
    }),
  );
  const blocks = [...new Set([...(baselines?.keys() ?? []), ...(candidates?.keys() ?? [])])];
  return blocks
    .sort((x, y) => x - y)
    .map((block) => {
      const [candidate, baseline] = [candidates?.get(block), baselines?.get(block)];
      return {
        startMs: (b.fromSeconds + block * of.blockSeconds) * 1000,
        ...(candidate === undefined ? {} : { candidate }),
        ...(baseline === undefined ? {} : { baseline }),
      };
    });
}

/**
 * Reads what requests both sides consist of, from the first block with requests of both to the last one.
 *
 * @returns undefined where there is no such block.
 */
export async function readMixes(
  client: ClickHouseClient,
  query: SidesQuery,
  blocks: readonly ComparedMinute[],
): Promise<readonly [a: SideMix, b: SideMix] | undefined> {
  const starts = blocks
    .filter((block) => paired(block) !== undefined)
    .map(({ startMs }) => startMs);
  if (starts.length === 0) return undefined;
  const offset = Math.min(...starts) / 1000 - query.b.fromSeconds;
  const seconds = (Math.max(...starts) - Math.min(...starts)) / 1000 + query.blockSeconds;
  const mixOf = async (side: ComparedSide): Promise<SideMix> => {
    const fromSeconds = side.fromSeconds + offset;
    const part = { ...side, fromSeconds, toSeconds: fromSeconds + seconds };
    // Sizes are stored for whole models: they say nothing of some of its requests.
    const isWhole = query.region === '' && query.requestType === '';
    const parts = await readMix(client, query, part);
    return { parts, sizes: isWhole ? await readSizes(client, query, part) : [] };
  };
  return Promise.all([mixOf(query.a), mixOf(query.b)]);
}

/** Reads the requests of one side by type and region. */
async function readMix(
  client: ClickHouseClient,
  { a: _a, b: _b, ...of }: SidesQuery,
  side: ComparedSide,
): Promise<MixPart[]> {
  const parameters = { ...of, ...side, limit: mostParts };
  const bytes = await rowBinaryOf(client, 'comparison_mix', parameters, repeatableSettings);
  const reader = new RowBinaryReader(bytes);
  const parts: MixPart[] = [];
  while (!reader.atEnd) {
    const requestType = reader.string();
    const region = reader.string();
    const requests = reader.uint64();
    const { digest, next } = decodeState(reader.bytes, reader.at);
    reader.at = next;
    parts.push({ requestType, region, requests, total: digest });
  }
  return parts;
}

/** Reads the requests of one side by their sizes. These are stored without region, type and start. */
async function readSizes(
  client: ClickHouseClient,
  { model }: Pick<SidesQuery, 'model'>,
  side: ComparedSide,
): Promise<SizePart[]> {
  return readFacets(client, { model, ...side, facets: sizeFacets, levels: [] });
}

/** Decodes rows of sql/queries/comparison_blocks.sql, by block. */
function decodeBlocks(bytes: Buffer): Map<number, ReadMinute> {
  const blocks = new Map<number, ReadMinute>();
  const reader = new RowBinaryReader(bytes);
  while (!reader.atEnd) {
    const block = reader.uint32();
    const stage = reader.string();
    const requests = reader.uint64();
    const failed = reader.uint64();
    const { digest, next } = decodeState(reader.bytes, reader.at);
    reader.at = next;
    const read = blocks.get(block) ?? { requests: 0, failed: 0, stages: new Map() };
    blocks.set(block, read);
    addStage(read, { stage, requests, failed, digest });
  }
  return blocks;
}
