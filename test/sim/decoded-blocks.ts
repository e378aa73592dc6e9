import { daySeconds } from '../../src/base/time.ts';
import { decodeRows } from '../sink/decoded-row.ts';

/** Counts that a stage row adds to its window. */
export interface StageCount {
  readonly windowMs: number;
  readonly model: string;
  readonly region: string;
  readonly isCold: boolean;
  readonly stage: string;
  readonly requests: number;
  readonly errors: number;
  readonly sumUs: number;
  readonly minMs: number;
  readonly maxMs: number;
}

/** Origin of a block and the day of its rows. */
export interface BlockMark {
  readonly mark: number;
  readonly dayS: number;
}

const kindsOf: Readonly<Record<string, number>> = { drivers_1m: 2, exemplars: 3 };

/** Cached facts about a block, which is slow to decode. */
interface DecodedBlock {
  readonly mark: number;
  readonly days: ReadonlySet<number>;
  readonly origin: string;
  readonly kinds: ReadonlySet<number>;
  readonly stageCounts: readonly StageCount[];
}

const known = new WeakMap<Buffer, DecodedBlock>();

/** Returns the mark of a block. A run lies within one day: a block with marks of two is refused. */
export function markOf(bytes: Buffer): BlockMark {
  const { mark, days } = decoded(bytes);
  const [dayS = 0] = days;
  if (days.size !== 1) throw new Error('the simulator knows only runs of one day');
  return { mark, dayS };
}

/** Returns group, topic, partition, log and first offset of a block's chunk, from its rows. */
export function originOf(bytes: Buffer): string {
  return decoded(bytes).origin;
}

/** True where a table gets rows of a block. */
export function goesTo(bytes: Buffer, table: string): boolean {
  return decoded(bytes).kinds.has(kindsOf[table] ?? 1);
}

/** Returns the stage rows of a block. */
export function stageCountsOf(bytes: Buffer): readonly StageCount[] {
  return decoded(bytes).stageCounts;
}

/** Each block is decoded once. */
function decoded(bytes: Buffer): DecodedBlock {
  let block = known.get(bytes);
  if (block === undefined) {
    block = decode(bytes);
    known.set(bytes, block);
  }
  return block;
}

function decode(bytes: Buffer): DecodedBlock {
  const rows = decodeRows(bytes);
  const [first] = rows;
  if (first === undefined) throw new Error('an insert must have rows');
  return {
    mark: rows.find(({ chunk_mark }) => chunk_mark !== 0)?.chunk_mark ?? 0,
    days: new Set(rows.map(({ window_start }) => window_start - (window_start % daySeconds))),
    origin: `${first.group_id}/${first.topic}/${first.partition}/${first.log_mark}/${first.start_offset}`,
    kinds: new Set(rows.map(({ kind }) => kind)),
    stageCounts: rows
      .filter(({ kind }) => kind === 1)
      .map((row) => ({
        windowMs: row.window_start * 1000,
        model: row.model,
        region: row.region,
        isCold: row.cold_start,
        stage: row.stage,
        requests: row.requests,
        errors: row.errors + row.timeouts + row.cancelled,
        sumUs: Math.round(row.sum_ms * 1000),
        minMs: row.min_ms,
        maxMs: row.max_ms,
      })),
  };
}
