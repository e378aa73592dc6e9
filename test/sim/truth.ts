import type { PartitionLog } from './partition-log.ts';

/** What must become of an event; of one at the edge, by the clock of its chunk: counted, or future. */
export type EventFate = 'counted' | 'late' | 'future' | 'edge';

export interface TruthEvent {
  /** When its request ended, in whole milliseconds: where it counts. */
  readonly endMs: number;
  readonly model: string;
  readonly region: string;
  readonly isCold: boolean;
  readonly isError: boolean;
  /** Stage and milliseconds; `total` among them where the request has one. */
  readonly stages: readonly (readonly [string, number])[];
  readonly fate: EventFate;
}

/** A record as it was written, and what is true of it. */
export interface TruthRecord {
  readonly log: PartitionLog;
  readonly offset: number;
  readonly timestampMs: number;
  /** It was there before the first process. */
  readonly isFirst: boolean;
  /** None where the message is garbage: then it is one dead letter. */
  readonly events: readonly TruthEvent[];
}

/** Everything that was written in a run. */
export class Truth {
  readonly records = new Map<PartitionLog, TruthRecord[]>();
  /** Records that were gone from their log, and to what, before anybody had to have stored them. */
  readonly removed = new Map<TruthRecord, string>();

  /** By group: records of a chunk that was being stored when its group lost its commits. */
  readonly repeatable = new Map<string, Set<TruthRecord>>();

  add(record: TruthRecord): void {
    const known = this.records.get(record.log);
    if (known === undefined) this.records.set(record.log, [record]);
    else known.push(record);
  }

  of(log: PartitionLog): readonly TruthRecord[] {
    return this.records.get(log) ?? [];
  }

  /** What is at these offsets of a log is gone. */
  remove(log: PartitionLog, isGone: (offset: number) => boolean, by: string): void {
    for (const record of this.of(log)) {
      if (isGone(record.offset) && !this.removed.has(record)) this.removed.set(record, by);
    }
  }

  /** A group has forgotten that it was storing these offsets of a log. */
  repeat(groupId: string, log: PartitionLog, from: number, to: number): void {
    const known = this.repeatable.get(groupId) ?? new Set();
    for (const record of this.of(log)) {
      if (record.offset >= from && record.offset < to) known.add(record);
    }
    this.repeatable.set(groupId, known);
  }
}
