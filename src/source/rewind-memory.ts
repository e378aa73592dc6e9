/** Times the same rewind must have led to the same place before that place is taken for its end. */
const REWINDS_TO_BELIEVE = 2;

interface Rewind {
  /** Offset to be read again. */
  readonly to: number;
  /** Offset at which the batch began that was not taken. */
  readonly from: number;
  readonly times: number;
}

/**
 * Tells a partition whose reading ran ahead from one that has nothing to read where it was asked
 * to begin. kafkajs passes in silence over record batches that hold no record for us (aborted
 * transactions, control records), so the batch after a rewind may begin beyond the offset asked
 * for, and would be rewound for ever.
 */
export class RewindMemory {
  readonly #rewinds = new Map<string, Rewind>();

  /** A batch that began at `from` was not taken, to read again from `to`. */
  note(partition: string, to: number, from: number): void {
    const known = this.#rewinds.get(partition);
    const isSame = known !== undefined && known.to === to && known.from === from;
    this.#rewinds.set(partition, { to, from, times: isSame ? known.times + 1 : 1 });
  }

  /**
   * Where the reading that led to `fetchOffset` began: the offset rewound to, when reading from
   * there has led to the same place again; else `fetchOffset` itself.
   */
  beginOf(partition: string, fetchOffset: number): number {
    const known = this.#rewinds.get(partition);
    if (known === undefined || known.from !== fetchOffset) return fetchOffset;
    return known.times >= REWINDS_TO_BELIEVE ? known.to : fetchOffset;
  }

  /** The partitions may be read by others by now. */
  clear(): void {
    this.#rewinds.clear();
  }
}
