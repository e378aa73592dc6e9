import { createHash } from 'node:crypto';
import { daySeconds } from '../../base/time.ts';

/** Kinds of landing rows, as in the column `kind`. */
export const rowKinds = { stage: 1, driver: 2, exemplar: 3 } as const;

export type RowKind = keyof typeof rowKinds;

/** Days (since the epoch, UTC) of a chunk's rows, by kind. */
export type DaysOfRows = Readonly<Record<RowKind, readonly number[]>>;

/** Identity of a chunk, all of which is in its intent. */
export interface MarkedChunk {
  readonly groupId: string;
  readonly topic: string;
  readonly partition: number;
  readonly logId: string;
  readonly startOffset: number;
  /** The chunk's clock, in milliseconds. */
  readonly nowMs: number;
}

/** A log's id as a number, for landing rows: 48 bits. */
export function logMarkOf(logId: string): number {
  return createHash('sha256').update(logId).digest().readUIntBE(0, 6);
}

/**
 * Marks the first row of each kind and day, by which a table shows that it has the chunk. A part of a table
 * contains rows of one day, month or year, so each part of the chunk has a mark.
 */
export class ChunkMarks {
  /** 48 bits, never 0. Among 10^8 pairs of a million chunks of the same days, one pair shares a mark. */
  readonly mark: number;
  readonly days: Readonly<Record<RowKind, number[]>> = { stage: [], driver: [], exemplar: [] };

  constructor({ groupId, topic, partition, logId, startOffset, nowMs }: MarkedChunk) {
    const name = JSON.stringify([groupId, topic, partition, logId, startOffset, nowMs]);
    this.mark = createHash('sha256').update(name).digest().readUIntBE(0, 6) || 1;
  }

  /** The mark of the next row: 0 except for the first of its kind and day. */
  next(kind: RowKind, windowS: number): number {
    const day = Math.floor(windowS / daySeconds);
    const days = this.days[kind];
    if (days.includes(day)) return 0;
    days.push(day);
    return this.mark;
  }
}
