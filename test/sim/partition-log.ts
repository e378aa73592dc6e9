/** A record, or an invisible entry: a marker, or one of an aborted transaction. */
export interface LogEntry {
  readonly offset: number;
  readonly timestampMs: number;
  readonly value: Buffer | null;
  readonly kind: 'data' | 'aborted' | 'marker';
  /** Number of the record batch it was written in. */
  readonly batch: number;
  readonly producerId: number;
  readonly leaderEpoch: number;
}

/** A log whose end was lost, in the log that goes on from what remains. */
export interface Truncation {
  readonly log: PartitionLog;
  /** First offset that was lost. */
  readonly at: number;
}

/** A partition's log as the broker keeps it. */
export class PartitionLog {
  readonly topic: string;
  readonly partition: number;
  /** `<cluster id>/<topic id>`. */
  readonly logId: string;
  readonly entries: LogEntry[] = [];
  /** Leader epochs and the offsets at which they begin. */
  readonly epochs: { readonly epoch: number; readonly start: number }[] = [{ epoch: 0, start: 0 }];
  /** The log before an unclean election. */
  readonly before: Truncation | undefined;
  /** When it was added to an existing topic, epoch milliseconds; undefined: with its topic. */
  readonly addedMs: number | undefined;
  /** Its topic was deleted. */
  isDeleted = false;
  /** First offset that is not deleted. */
  low = 0;
  /** Offset after the last one written. */
  high = 0;
  #batch = 0;

  constructor(
    { topic, partition, logId }: Pick<PartitionLog, 'topic' | 'partition' | 'logId'>,
    { addedMs, before }: Partial<Pick<PartitionLog, 'addedMs' | 'before'>> = {},
  ) {
    this.topic = topic;
    this.partition = partition;
    this.logId = logId;
    this.addedMs = addedMs;
    this.before = before;
    if (before === undefined) return;
    const { log, at } = before;
    this.low = Math.min(log.low, at);
    this.high = at;
    this.#batch = log.#batch;
    this.entries.push(...log.entries.filter(({ offset }) => offset < at));
    const kept = log.epochs.filter(({ start }, i) => i === 0 || start < at);
    this.epochs.splice(0, 1, ...kept, { epoch: log.epoch + 1, start: at });
  }

  /** Epoch of the current leader. */
  get epoch(): number {
    return this.epochs.at(-1)?.epoch ?? 0;
  }

  /** Offset up to which it has the records of a log before it; undefined where that is none. */
  sharedWith(log: PartitionLog): number | undefined {
    if (this === log) return Number.POSITIVE_INFINITY;
    if (this.before === undefined) return undefined;
    const at = this.before.log.sharedWith(log);
    return at === undefined ? undefined : Math.min(at, this.before.at);
  }

  /** Epoch of its leader after the unclean election; 0 without one. */
  get firstEpoch(): number {
    const { before } = this;
    if (before === undefined) return 0;
    return this.epochs.find(({ epoch }) => epoch > before.log.epoch)?.epoch ?? 0;
  }

  /** Elects another leader, which has all records. */
  elect(): void {
    this.epochs.push({ epoch: this.epoch + 1, start: this.high });
  }

  /** Where an epoch ends, or the latest earlier one, as LeaderEpochFileCache.endOffsetFor has it. */
  endOfEpoch(epoch: number): { readonly leaderEpoch: number; readonly endOffset: number } {
    if (epoch === this.epoch) return { leaderEpoch: epoch, endOffset: this.high };
    const after = this.epochs.find((each) => each.epoch > epoch);
    if (after === undefined) return { leaderEpoch: -1, endOffset: -1 };
    const found = this.epochs.findLast((each) => each.epoch <= epoch);
    return { leaderEpoch: found?.epoch ?? epoch, endOffset: after.start };
  }

  /** Writes values as one batch; returns the offset of the first. */
  append(
    values: readonly (Buffer | null)[],
    timestampMs: number,
    kind: LogEntry['kind'] = 'data',
    producerId = -1,
  ): number {
    const first = this.high;
    this.#batch++;
    for (const value of values) {
      const offset = this.high++;
      const batch = this.#batch;
      this.entries.push({
        offset,
        timestampMs,
        value,
        kind,
        batch,
        producerId,
        leaderEpoch: this.epoch,
      });
    }
    return first;
  }

  /** Deletes everything below an offset, as retention does. */
  deleteBelow(offset: number): void {
    this.low = Math.max(this.low, Math.min(offset, this.high));
    if (this.before !== undefined) this.before.log.deleteBelow(Math.min(offset, this.before.at));
    while (this.entries.length > 0 && (this.entries[0] as LogEntry).offset < this.low) {
      this.entries.shift();
    }
  }

  /** Removes single records, as compaction does; never the last one. */
  compact(isGone: (entry: LogEntry) => boolean): LogEntry[] {
    const last = this.entries.at(-1);
    const gone = this.entries.filter((entry) => entry !== last && isGone(entry));
    const lost = new Set(gone);
    const kept = this.entries.filter((entry) => !lost.has(entry));
    this.entries.splice(0, this.entries.length, ...kept);
    return gone;
  }

  /**
   * Returns whole batches from the one that holds the offset on; undefined where the offset is out of range.
   */
  read(offset: number, atMost: number): LogEntry[] | undefined {
    if (offset < this.low || offset > this.high) return undefined;
    const from = this.#firstAt(offset);
    const first = this.entries[from];
    if (first === undefined) return [];
    let begin = from;
    while (begin > 0 && (this.entries[begin - 1] as LogEntry).batch === first.batch) begin--;
    let end = from;
    while (end < this.entries.length) {
      const { batch } = this.entries[end] as LogEntry;
      if (end - from >= atMost && batch !== (this.entries[end - 1] as LogEntry).batch) break;
      end++;
    }
    return this.entries.slice(begin, end);
  }

  /** Returns the last few entries before an offset. */
  entriesBefore(offset: number, atMost: number): LogEntry[] {
    const end = this.#firstAt(offset);
    return this.entries.slice(Math.max(0, end - atMost), end);
  }

  /** Returns the first offset whose record is of this time or later; -1 where there is none. */
  offsetAt(timestampMs: number): { readonly offset: number; readonly timestampMs: number } {
    const found = this.entries.find((entry) => entry.timestampMs >= timestampMs);
    return found === undefined
      ? { offset: -1, timestampMs: -1 }
      : { offset: found.offset, timestampMs: found.timestampMs };
  }

  #firstAt(offset: number): number {
    let low = 0;
    let high = this.entries.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if ((this.entries[mid] as LogEntry).offset < offset) low = mid + 1;
      else high = mid;
    }
    return low;
  }
}
