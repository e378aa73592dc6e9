import type { RefusedRecord } from './refused-record.ts';

/** One record of a partition, as every source gives it. */
export interface SourceRecord {
  readonly offset: number;
  /** The record's timestamp (broker or producer), not the event's. */
  readonly timestampMs: number;
  /** null: a tombstone. */
  readonly value: Buffer | null;
  /** Why it is rejected unread; `value` is then what there is of it, if anything. */
  readonly refused?: RefusedRecord | undefined;
}

/**
 * Records in offset order, gone through once. One is in view at a time, and may be overwritten by
 * the next: copy what is kept.
 */
export interface Records {
  /** The record in view; undefined behind the last. */
  readonly current: SourceRecord | undefined;
  advance(): void;
}

/** Consecutive records of one partition, in offset order, with possible gaps. */
export interface RecordBatch {
  readonly topic: string;
  readonly partition: number;
  /** The offset that was asked for; the first record may lie beyond it, and none before it. */
  readonly fetchOffset: number;
  readonly records: Records;
  /** Offset after the batch's last record, gaps included. */
  readonly nextOffset: number;
  /** Offset after the partition's last record, for the lag. */
  readonly highWatermark: number;
}

/** Records that are in memory one by one. */
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
