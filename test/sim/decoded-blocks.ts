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
