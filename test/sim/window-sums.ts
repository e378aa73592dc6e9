import type { StageCount } from './decoded-blocks.ts';
import type { Grain } from './sim-config.ts';
import type { TruthEvent, TruthRecord } from './truth.ts';

/** Contents of a window of a series and stage. */
export interface WindowSum {
  requests: number;
  errors: number;
  sumUs: number;
  minMs: number;
  maxMs: number;
}

export type WindowSums = ReadonlyMap<string, WindowSum>;

const BASE_WINDOW_MS = 10_000;

function keyOf(
  grain: Grain,
  windowMs: number,
  of: { readonly model: string; readonly region: string; readonly isCold: boolean },
  stage: string,
): string {
  if (grain === 'window') return `${windowMs} ${stage}`;
  if (grain === 'model') return `${windowMs} ${of.model} ${stage}`;
  return `${windowMs} ${of.model} ${of.region} ${of.isCold ? 'cold' : 'warm'} ${stage}`;
}

function add(sums: Map<string, WindowSum>, key: string, amount: WindowSum): void {
  const sum = sums.get(key);
  if (sum === undefined) {
    sums.set(key, { ...amount });
    return;
  }
  sum.requests += amount.requests;
  sum.errors += amount.errors;
  sum.sumUs += amount.sumUs;
  sum.minMs = Math.min(sum.minMs, amount.minMs);
  sum.maxMs = Math.max(sum.maxMs, amount.maxMs);
}

/** Expected sums of records, each once; with or without those at the edge. */
export function sumsOfRecords(
  records: Iterable<TruthRecord>,
  grain: Grain,
  isEdgeCounted: boolean,
  isDue: (event: TruthEvent) => boolean = () => true,
): WindowSums {
  const sums = new Map<string, WindowSum>();
  for (const { events } of records) {
    for (const event of events) {
      if (event.fate !== 'counted' && (event.fate !== 'edge' || !isEdgeCounted)) continue;
      if (!isDue(event)) continue;
      const windowMs = Math.floor(event.endMs / BASE_WINDOW_MS) * BASE_WINDOW_MS;
      for (const [stage, ms] of event.stages) {
        add(sums, keyOf(grain, windowMs, event, stage), {
          requests: 1,
          errors: event.isError ? 1 : 0,
          sumUs: Math.round(ms * 1000),
          minMs: ms,
          maxMs: ms,
        });
      }
    }
  }
  return sums;
}

/** Sums of blocks, each as often as it is stored. */
export function sumsOfRows(rows: Iterable<StageCount>, grain: Grain): WindowSums {
  const sums = new Map<string, WindowSum>();
  for (const row of rows) add(sums, keyOf(grain, row.windowMs, row, row.stage), row);
  return sums;
}
