import type { StageBands } from '../../baseline/series-reference.ts';
import {
  addStage,
  type ComparedMinute,
  emptyMinute,
  paired,
  pairSides,
  type ReadMinute,
} from '../../compare/compared-minute.ts';
import type { SideMix } from '../../compare/like-with-like.ts';
import type { CompareInput } from '../../compare/verdict/compare-versions.ts';
import type { Bands } from '../../series/series-window.ts';
import type { ClickHouseClient } from '../../sink/client/clickhouse.ts';
import { repeatableSettings } from '../../sink/client/query-settings.ts';
import { rowBinaryOf } from '../../sink/row-binary/row-binary-of.ts';
import { RowBinaryReader } from '../../sink/row-binary/row-binary-reader.ts';
import {
  boundedQuantiles,
  type CensoredColumns,
  type Extremes,
} from '../../sink/windows/bounded-quantiles.ts';
import { decodeState } from '../../sketch/clickhouse-state.ts';
import { readMix, readSizes, sizesOfAsked } from '../lengths/read-mix.ts';
import { viewRows } from '../view-rows.ts';

/** One side of a comparison: a version, or ('') all of them, over a range of whole blocks. */
export interface ComparedSide {
  readonly version: string;
  readonly fromSeconds: number;
  readonly toSeconds: number;
}

/** The requests that are compared on both sides; '' matches any value. */
export interface ComparedFilters {
  readonly model: string;
  readonly region: string;
  readonly requestType: string;
  readonly coldStart: string;
  /** Pairs that the text of the own dimensions has; none matches any. */
  readonly attributePairs: string[];
}

export interface SidesQuery extends ComparedFilters {
  readonly table: string;
  /** Length of what is compared as one: whole windows of the table. */
  readonly blockSeconds: number;
  readonly a: ComparedSide;
  readonly b: ComparedSide;
}

/** Both sides as `compareVersions` takes them: `baseline` is A, `candidate` is B. */
export interface Sides extends Required<Pick<CompareInput, 'minutes' | 'bands' | 'joined'>> {
  /** The blocks in which both sides have requests as one, by side and stage. */
  readonly rows: readonly SideRow[];
  /** The query of the rows, to copy and run. */
  readonly sql: string;
}

/** A row of sql/queries/view_compare.sql. */
export interface SideRow extends CensoredColumns, Extremes {
  readonly side: 'a' | 'b';
  readonly stage: string;
  readonly requests: string | number;
  readonly failed: string | number;
  /** At `joinedQuantiles`. */
  readonly quantiles_ms: readonly number[];
  readonly amounts: Readonly<Record<string, number>>;
  readonly amounts_ms: Readonly<Record<string, number>>;
}

/** Quantiles that ClickHouse joins, and that `joined` of a comparison has. */
export const joinedQuantiles: readonly number[] = [
  0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999,
];

/**
 * Reads the blocks of two sides, the first of A with the first of B, and the mix of the requests of both. So
 * ranges are compared as versions are.
 */
export async function readSides(client: ClickHouseClient, query: SidesQuery): Promise<Sides> {
  const { a, b, ...of } = query;
  const [baselines, candidates, { rows, sql }] = await Promise.all([
    readBlocks(client, { ...of, ...a }),
    readBlocks(client, { ...of, ...b }),
    viewRows<SideRow>(
      client,
      'view_compare',
      {
        ...{ ...of, quantiles: joinedQuantiles },
        ...{ aVersion: a.version, aFromSeconds: a.fromSeconds, aToSeconds: a.toSeconds },
        ...{ bVersion: b.version, bFromSeconds: b.fromSeconds, bToSeconds: b.toSeconds },
      },
      { isRepeatable: true },
    ),
  ]);
  const startMsOf = (block: number) => (b.fromSeconds + block * of.blockSeconds) * 1000;
  const sides = { candidate: 'b', baseline: 'a' } as const;
  return {
    minutes: pairSides(baselines, candidates, startMsOf),
    bands: { candidate: bandsOf(rows, 'b'), baseline: bandsOf(rows, 'a') },
    joined: (side, stage, q) =>
      rowOf(rows, sides[side], stage)?.quantiles_ms[joinedQuantiles.indexOf(q)],
    ...{ rows, sql },
  };
}

export function rowOf(
  rows: readonly SideRow[],
  side: SideRow['side'],
  stage: string,
): SideRow | undefined {
  return rows.find((row) => row.side === side && row.stage === stage);
}

/**
 * Which of `joinedQuantiles` of a side's stage are lower bounds, as they lie beyond the last request that ended. Cost
 * where requests were given up: their digests are decoded.
 */
export function boundsOf(
  rows: readonly SideRow[],
  side: SideRow['side'],
  stage: string,
): readonly boolean[] {
  const row = rowOf(rows, side, stage);
  const quantiles = row === undefined ? [] : boundedQuantiles(joinedQuantiles, [], row);
  return joinedQuantiles.map((_, i) => quantiles[i]?.isAtLeast === true);
}

/** Both sides from the first block with requests of both to the last one; undefined where there is none. */
export function pairedSides(
  { a, b, blockSeconds }: SidesQuery,
  blocks: readonly ComparedMinute[],
): Readonly<Record<'a' | 'b', ComparedSide>> | undefined {
  const starts = blocks
    .filter((block) => paired(block) !== undefined)
    .map(({ startMs }) => startMs);
  if (starts.length === 0) return undefined;
  const offset = Math.min(...starts) / 1000 - b.fromSeconds;
  const seconds = (Math.max(...starts) - Math.min(...starts)) / 1000 + blockSeconds;
  const partOf = (side: ComparedSide) => {
    const fromSeconds = side.fromSeconds + offset;
    return { ...side, fromSeconds, toSeconds: fromSeconds + seconds };
  };
  return { a: partOf(a), b: partOf(b) };
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
  const sides = pairedSides(query, blocks);
  if (sides === undefined) return undefined;
  const { a: _a, b: _b, ...of } = query;
  const mixOf = async (part: ComparedSide): Promise<SideMix> => {
    const asked = { ...of, ...part };
    const [parts, sizes] = await Promise.all([readMix(client, asked), readSizes(client, asked)]);
    const requests = parts.reduce((sum, each) => sum + each.requests, 0);
    return { parts, sizes: sizesOfAsked(of, sizes, requests) };
  };
  return Promise.all([mixOf(sides.a), mixOf(sides.b)]);
}

/** Reads the blocks of one side, by their number: sql/queries/comparison_blocks.sql. */
async function readBlocks(
  client: ClickHouseClient,
  parameters: ComparedSide & Omit<SidesQuery, 'a' | 'b'>,
): Promise<Map<number, ReadMinute>> {
  const bytes = await rowBinaryOf(
    client,
    'comparison_blocks',
    { ...parameters },
    repeatableSettings,
  );
  const blocks = new Map<number, ReadMinute>();
  const reader = new RowBinaryReader(bytes);
  while (!reader.atEnd) {
    const block = reader.uint32();
    const stage = reader.string();
    const requests = reader.uint64();
    const failed = reader.uint64();
    const { digest, next } = decodeState(reader.bytes, reader.at);
    reader.at = next;
    const read = blocks.get(block) ?? emptyMinute();
    blocks.set(block, read);
    addStage(read, { stage, requests, failed, digest });
  }
  return blocks;
}

function bandsOf(rows: readonly SideRow[], side: SideRow['side']): Map<string, StageBands> {
  return new Map(
    rows
      .filter((row) => row.side === side)
      .map(({ stage, amounts, amounts_ms }) => [
        stage,
        { bands: sortedBands(amounts), bandsMs: sortedBands(amounts_ms) },
      ]),
  );
}

/** Amounts by band as a query returns them, in the order of bands. */
function sortedBands(amounts: Readonly<Record<string, number>>): Bands {
  const sorted = Object.entries(amounts)
    .map(([band, amount]) => [Number(band), Number(amount)] as const)
    .toSorted(([a], [b]) => a - b);
  return { bands: sorted.map(([band]) => band), amounts: sorted.map(([, amount]) => amount) };
}
