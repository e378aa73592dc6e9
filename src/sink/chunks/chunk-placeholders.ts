import { createHash } from 'node:crypto';

const DAY_S = 86_400;

/** Kinds of landing rows, as they stand in the column `kind`. */
export const rowKinds = { stage: 1, driver: 2, exemplar: 3 } as const;

export type RowKind = keyof typeof rowKinds;

/** The days (since the epoch, UTC) of a chunk's rows, by kind. */
export type DaysOfRows = Readonly<Record<RowKind, readonly number[]>>;

/** What names a chunk, whoever makes it again: the intent carries all of it. */
export interface MarkedChunk {
  readonly groupId: string;
  readonly topic: string;
  readonly partition: number;
  readonly startOffset: number;
  /** The clock by which its events are judged, milliseconds; tells a topic made anew from the old. */
  readonly nowMs: number;
}

/**
 * Marks the rows of a chunk by which a table shows that it has the chunk: the first of each kind and
 * day. A part of a table holds rows of one day, month or year, so each part of the chunk has a mark.
 */
export class ChunkMarks {
  /** 48 bits, never 0: two chunks of the same days share it once in 10^8 pairs of a million chunks. */
  readonly mark: number;
  readonly #days: Record<RowKind, number[]> = { stage: [], driver: [], exemplar: [] };

  constructor({ groupId, topic, partition, startOffset, nowMs }: MarkedChunk) {
    const name = JSON.stringify([groupId, topic, partition, startOffset, nowMs]);
    this.mark = createHash('sha256').update(name).digest().readUIntBE(0, 6) || 1;
  }

  /** The mark that a row must carry: 0 for all but the first of its kind and day. */
  next(kind: RowKind, windowS: number): number {
    const day = Math.floor(windowS / DAY_S);
    const days = this.#days[kind];
    if (days.includes(day)) return 0;
    days.push(day);
    return this.mark;
  }

  get days(): DaysOfRows {
    return this.#days;
  }
}
