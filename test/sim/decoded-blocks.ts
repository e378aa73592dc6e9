import { decodeRows } from '../sink/decoded-row.ts';

/** What a stage row adds to its window. */
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

/** By which a block says whose it is, and the day of its rows. */
export interface BlockMark {
  readonly mark: number;
  readonly dayS: number;
}

const DAY_S = 86_400;
const knownMarks = new WeakMap<Buffer, BlockMark>();

/** The mark of a block. A run lies within one day: a block with marks of two is refused. */
export function markOf(bytes: Buffer): BlockMark {
  let found = knownMarks.get(bytes);
  if (found === undefined) {
    const days = new Set<number>();
    let mark = 0;
    for (const { chunk_mark, window_start } of decodeRows(bytes)) {
      days.add(window_start - (window_start % DAY_S));
      if (chunk_mark !== 0) mark = chunk_mark;
    }
    const [dayS = 0] = days;
    if (days.size !== 1) throw new Error('the simulator knows only runs of one day');
    found = { mark, dayS };
    knownMarks.set(bytes, found);
  }
  return found;
}

const knownOrigins = new WeakMap<Buffer, string>();

/** Group, topic, partition and first offset of the chunk that a block is, as its rows have them. */
export function originOf(bytes: Buffer): string {
  let found = knownOrigins.get(bytes);
  if (found === undefined) {
    const [row] = decodeRows(bytes);
    if (row === undefined) throw new Error('an insert must have rows');
    found = `${row.group_id}/${row.topic}/${row.partition}/${row.start_offset}`;
    knownOrigins.set(bytes, found);
  }
  return found;
}

const kindsOf: Readonly<Record<string, number>> = { drivers_1m: 2, exemplars: 3 };
const knownKinds = new WeakMap<Buffer, ReadonlySet<number>>();

/** Whether a table gets rows of a block. */
export function goesTo(bytes: Buffer, table: string): boolean {
  let kinds = knownKinds.get(bytes);
  if (kinds === undefined) {
    kinds = new Set(decodeRows(bytes).map(({ kind }) => kind));
    knownKinds.set(bytes, kinds);
  }
  return kinds.has(kindsOf[table] ?? 1);
}

const known = new WeakMap<Buffer, readonly StageCount[]>();

/** The stage rows of a block of RowBinary; each block is read once. */
export function stageCountsOf(bytes: Buffer): readonly StageCount[] {
  let counts = known.get(bytes);
  if (counts === undefined) {
    counts = decodeRows(bytes)
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
      }));
    known.set(bytes, counts);
  }
  return counts;
}
