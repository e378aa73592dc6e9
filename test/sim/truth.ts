import type { PartitionLog } from './partition-log.ts';

/** Expected fate of an event; one at the edge is counted or future, by the clock of its chunk. */
export type EventFate = 'counted' | 'late' | 'future' | 'edge';

export interface TruthEvent {
  /** End of its request, in whole milliseconds: the time at which it counts. */
  readonly endMs: number;
  readonly model: string;
  readonly region: string;
  readonly isCold: boolean;
  readonly isError: boolean;
  /** It names a host or a batch size. */
  readonly hasFacet: boolean;
  /** Stage and milliseconds; `total` among them where the request has one. */
  readonly stages: readonly (readonly [string, number])[];
  readonly fate: EventFate;
}

/** A written record and its expected results. */
export interface TruthRecord {
  readonly log: PartitionLog;
  readonly offset: number;
  readonly timestampMs: number;
  /** True where it was written before the first process started. */
  readonly isFirst: boolean;
  /** Empty where the message is garbage: then it is one dead letter. */
  readonly events: readonly TruthEvent[];
}

/** Everything that was written in a run. */
export class Truth {
  readonly records = new Map<PartitionLog, TruthRecord[]>();
  /** Records removed from their log before they had to be stored, and the cause. */
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

  /** All records of a log, also of those before it that it goes on from. */
  readable(log: PartitionLog): readonly TruthRecord[] {
    const { before } = log;
    if (before === undefined) return this.of(log);
    return [
      ...this.readable(before.log).filter(({ offset }) => offset < before.at),
      ...this.of(log),
    ];
  }

  /** All records that a log and those before it ever had. */
  everOf(log: PartitionLog): readonly TruthRecord[] {
    const before = log.before === undefined ? [] : this.everOf(log.before.log);
    return [...before, ...this.of(log)];
  }

  /**
   * Marks the records at these offsets of a log as removed. What an election loses nobody can know, also where
   * it was deleted before: the new leader has other records there, or none.
   */
  remove(log: PartitionLog, isGone: (offset: number) => boolean, by: string): void {
    for (const record of this.readable(log)) {
      if (!isGone(record.offset)) continue;
      const before = this.removed.get(record);
      const isUnknown = by === 'unclean_election' && before === 'retention';
      if (before === undefined || isUnknown) this.removed.set(record, by);
    }
  }

  /** Marks these offsets of a log as forgotten by a group that was storing them. */
  repeat(groupId: string, log: PartitionLog, from: number, to: number): void {
    const known = this.repeatable.get(groupId) ?? new Set();
    for (const record of this.readable(log)) {
      if (record.offset >= from && record.offset < to) known.add(record);
    }
    this.repeatable.set(groupId, known);
  }
}
