/** The reason why a source delivers a record without its value, or with its beginning only. */
export interface RefusedRecord {
  readonly reason: 'undecodable_batch' | 'message_too_large';
  /** One sentence for the dead letter. */
  readonly detail: string;
  /** Length of the value, as far as it is known. */
  readonly originalBytes: number;
}

/**
 * Reads the headers of a record from its bytes: the last value of each name, without those that are null. The
 * values are parts of the record, and valid as long as it is.
 */
export type ReadHeaders = () => ReadonlyMap<string, Buffer>;

/** One record of a partition, from any source. */
export interface SourceRecord {
  readonly offset: number;
  /** The record's own timestamp (broker or producer), not the event's. */
  readonly timestampMs: number;
  readonly value: Buffer | null;
  /** Absent where the source has no headers. It costs nothing until it is called. */
  readonly headers?: ReadHeaders | undefined;
  /** Epoch of the leader that wrote it (KIP-101). */
  readonly leaderEpoch?: number | undefined;
  /** Offsets before it, after the record before, whose records are gone from the log. @default 0 */
  readonly removedBefore?: number;
  /** The reason why the source rejects the record; `value` then has its beginning or nothing. */
  readonly refused?: RefusedRecord | undefined;
}

/** Iterates over records in offset order. The next record may overwrite the current one: copy to keep it. */
export interface Records {
  /** The current record; undefined after the last. */
  readonly current: SourceRecord | undefined;
  advance(): void;
  /** Offsets after the last record whose records are gone from the log. Absent where it cannot be known. */
  readonly removedAtEnd?: number;
  /** Key of the current record; null without one. Absent where the source has no keys. */
  key?(): Buffer | null;
}

/** Consecutive records of one partition, in offset order, with possible gaps. */
export interface RecordBatch {
  readonly topic: string;
  readonly partition: number;
  /** The requested offset. No record is before it; the first may be after it. */
  readonly fetchOffset: number;
  readonly records: Records;
  /** Offset after the batch's last record, gaps included. */
  readonly nextOffset: number;
  /** Epoch of the leader that wrote the record before `nextOffset`, visible or not. */
  readonly leaderEpoch?: number | undefined;
  /** Offset after the partition's last record, for the lag. */
  readonly highWatermark: number;
}

export class RecordList implements Records {
  readonly #records: readonly SourceRecord[];
  #at = 0;

  constructor(records: readonly SourceRecord[]) {
    this.#records = records;
  }

  get current(): SourceRecord | undefined {
    return this.#records[this.#at];
  }

  advance(): void {
    this.#at++;
  }
}
