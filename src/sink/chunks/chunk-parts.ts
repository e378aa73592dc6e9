import { daySeconds } from '../../base/time.ts';
import type { DaysOfRows, RowKind } from './chunk-marks.ts';

/** A part of a chunk in one table, which exists as a whole or not at all. */
export interface ChunkPart {
  readonly table: string;
  /** Kind of the landing rows it is made of; undefined for all kinds. */
  readonly kind: RowKind | undefined;
  /** Its windows [fromS, toS), epoch seconds: a partition of the table. */
  readonly fromS: number;
  readonly toS: number;
}

type Span = 'day' | 'month' | 'year';

/** The last second of a DateTime. */
const END_S = 2 ** 32 - 1;

/** Tables that the views fill, with their partitioning (sql/0001, sql/0002, sql/0015). */
const tables: readonly { readonly table: string; readonly kind: RowKind; readonly span: Span }[] = [
  { table: 'latency_10s', kind: 'stage', span: 'day' },
  { table: 'latency_1m', kind: 'stage', span: 'day' },
  { table: 'latency_1h', kind: 'stage', span: 'month' },
  { table: 'latency_1d', kind: 'stage', span: 'year' },
  { table: 'drivers_1m', kind: 'driver', span: 'day' },
  { table: 'exemplars', kind: 'exemplar', span: 'day' },
];

/** Lists every part that a stored chunk with rows of these days must have. */
export function chunkParts(days: DaysOfRows): ChunkPart[] {
  const parts: ChunkPart[] = [{ table: 'chunk_landings', kind: undefined, fromS: 0, toS: END_S }];
  for (const { table, kind, span } of tables) {
    const seen = new Set<number>();
    for (const day of days[kind]) {
      const [fromS, toS] = partitionOf(day, span);
      if (!seen.has(fromS)) parts.push({ table, kind, fromS, toS });
      seen.add(fromS);
    }
  }
  return parts;
}

/** Bounds of a day's partition, epoch seconds. */
function partitionOf(day: number, span: Span): [fromS: number, toS: number] {
  if (span === 'day') return [day * daySeconds, Math.min(END_S, (day + 1) * daySeconds)];
  const date = new Date(day * daySeconds * 1000);
  const year = date.getUTCFullYear();
  const month = date.getUTCMonth();
  const [from, to] =
    span === 'month'
      ? [Date.UTC(year, month), Date.UTC(year, month + 1)]
      : [Date.UTC(year, 0), Date.UTC(year + 1, 0)];
  return [from / 1000, Math.min(END_S, to / 1000)];
}
