import type { PartitionProgress } from '../../../sink/windows/window-progress.ts';
import type { ArrivedPartition } from './arrival-log.ts';

export interface TrackLimits {
  /** Longest wait for a partition, and for late events. */
  readonly maxWaitMs: number;
  /** Time by which arrived records are normally stored. */
  readonly normalLagMs: number;
  /** True if a group without commits reads a log from its beginning. */
  readonly fromEarliest: boolean;
}

/** State of the other partitions. */
export interface Surroundings {
  readonly nowMs: number;
  /** Time since the last call, limited for stopped processes. */
  readonly stepMs: number;
  /** True if others make progress. */
  readonly othersStore: boolean;
  /** True if others have caught up. */
  readonly othersCaughtUp: boolean;
  readonly isLive: boolean;
}

/** Delays that are kept; the minimum ignores single late events. */
const delaysKept = 3;
/** A partition must reduce its lag by this share while it is waited for. */
const leastGain = 0.1;

/** Progress of one partition: what has arrived, what is stored, and whether windows wait for it. */
export class PartitionTrack {
  readonly name: string;
  readonly #limits: TrackLimits;
  #watermarkMs = 0;
  #flushedMs = 0;
  #storedOffset = -1;
  #endOffset: number | undefined;
  /** The ledger's end in a log that was replaced. */
  #staleOffset: number | undefined;
  #ledgerOffset: number | undefined;
  #storedUntilMs: number | undefined;
  #firstSeenMs: number | undefined;
  /** Last time its stored offset increased, by the prober's clock; -Infinity before. */
  #advancedMs = Number.NEGATIVE_INFINITY;
  #goodMs = Number.NEGATIVE_INFINITY;
  readonly #delaysMs: number[] = [];
  #isGivenUp = false;
  /** Time in which others made progress, and the value of it at this partition's last gain. */
  #waitedMs = 0;
  #gainedMs = 0;
  #peakMs = 0;

  constructor(name: string, limits: TrackLimits) {
    this.name = name;
    this.#limits = limits;
  }

  /**
   * @param arrived Kafka's offsets; undefined before the first probe.
   * @param isNewer true if Kafka was probed after the ledger was last read.
   * @param progress from the ledger; undefined without an entry.
   */
  observe(
    nowMs: number,
    arrived: ArrivedPartition | undefined,
    isNewer: boolean,
    progress: PartitionProgress | undefined,
  ): void {
    const endOffset = arrived?.log.endOffset;
    if (isNewer && endOffset !== undefined && endOffset < this.#storedOffset) this.#reset();
    this.#endOffset = endOffset;
    this.#firstSeenMs ??= nowMs;
    this.#ledgerOffset = progress?.endOffset;
    const storedOffset = Math.max(this.#storedOffset, this.#storedOffsetOf(arrived));
    if (this.#storedOffset >= 0 && storedOffset > this.#storedOffset) this.#advancedMs = nowMs;
    this.#storedOffset = storedOffset;
    const seen = arrived?.history.storedUntil(storedOffset);
    this.#storedUntilMs = seen?.lastMs;
    if (progress !== undefined) this.#observeGood(nowMs, progress, seen?.firstMs);
  }

  /** Event time that it has reached; 0 before its first valid event. */
  get watermarkMs(): number {
    return this.#watermarkMs;
  }

  /** Time at which its last chunk with a valid event was stored, by ClickHouse's clock. */
  get flushedMs(): number {
    return this.#flushedMs;
  }

  get lagMessages(): number {
    return Math.max(0, (this.#endOffset ?? 0) - this.#storedOffset);
  }

  get isGivenUp(): boolean {
    return this.#isGivenUp;
  }

  /** Time by which all stored records had arrived; undefined if Kafka was not probed by then. */
  get storedUntilMs(): number | undefined {
    return this.#storedUntilMs;
  }

  /** Delay between event time and arrival; undefined before a measurement. */
  get delayMs(): number | undefined {
    return this.#delaysMs.length === 0 ? undefined : Math.min(...this.#delaysMs);
  }

  /** True if its events arrive close to their event time. */
  get isLive(): boolean {
    const { delayMs } = this;
    const isKnown = this.#storedUntilMs !== undefined && delayMs !== undefined;
    return isKnown && delayMs <= this.#limits.maxWaitMs;
  }

  /** True if its events arrive too long after their event time: windows do not wait for them. */
  get isDisplaced(): boolean {
    const { delayMs } = this;
    return delayMs !== undefined && delayMs > this.#limits.maxWaitMs;
  }

  /** True if its stored offset increased lately. */
  isStoring(nowMs: number): boolean {
    return nowMs - this.#advancedMs <= this.#limits.normalLagMs;
  }

  /** True if valid events of it were stored within this time. */
  hadEvents(nowMs: number, withinMs: number): boolean {
    return nowMs - this.#goodMs <= withinMs;
  }

  /** Since when records wait to be stored; undefined where none do. */
  get waitingSinceMs(): number | undefined {
    if (this.lagMessages === 0) return undefined;
    return this.#storedUntilMs ?? this.#firstSeenMs;
  }

  /**
   * Event time before which it is complete. Live: the time by which all stored records had arrived, minus its
   * delay. Otherwise its watermark.
   */
  reachMs(isLive: boolean): number {
    const watermarkMs = this.#watermarkMs > 0 ? this.#watermarkMs : Number.NEGATIVE_INFINITY;
    if (!isLive || this.#storedUntilMs === undefined) return watermarkMs;
    return this.#storedUntilMs - (this.isLive ? Math.max(0, this.delayMs ?? 0) : 0);
  }

  /**
   * Gives up waiting for a partition that is behind while others are not, if its lag shrinks too slowly: by
   * less than a tenth per `maxWaitMs` in which others make progress.
   */
  updateGivenUp(others: Surroundings): void {
    const { normalLagMs, maxWaitMs } = this.#limits;
    const behindMs = others.nowMs - this.reachMs(others.isLive);
    const isCaughtUp = this.lagMessages === 0 || behindMs <= normalLagMs;
    const hasGained = others.othersCaughtUp
      ? behindMs <= (1 - leastGain) * this.#peakMs
      : this.#advancedMs === others.nowMs;
    if (others.othersStore) this.#waitedMs += others.stepMs;
    if (isCaughtUp || hasGained) {
      this.#gainedMs = this.#waitedMs;
      this.#peakMs = behindMs;
    }
    this.#peakMs = Math.max(this.#peakMs, behindMs);
    if (isCaughtUp) this.#isGivenUp = false;
    else if (behindMs > maxWaitMs && this.#waitedMs - this.#gainedMs >= maxWaitMs) {
      this.#isGivenUp = true;
    }
  }

  /** Reads watermark and delay of its valid events from the ledger. */
  #observeGood(nowMs: number, progress: PartitionProgress, arrivedMs: number | undefined): void {
    const { watermarkMs, flushedMs, newestMs } = progress;
    if (watermarkMs <= 0 || flushedMs <= this.#flushedMs) return;
    const isFirst = this.#flushedMs === 0;
    this.#watermarkMs = watermarkMs;
    this.#flushedMs = flushedMs;
    if (!isFirst) this.#goodMs = nowMs;
    // Records stored before the first probe had arrived by then.
    const delayMs = (isFirst ? flushedMs : (arrivedMs ?? Number.NaN)) - newestMs;
    if (Number.isNaN(delayMs)) return;
    this.#delaysMs.push(delayMs);
    if (this.#delaysMs.length > delaysKept) this.#delaysMs.shift();
  }

  /** The offset up to which all records are stored or expired. */
  #storedOffsetOf(arrived: ArrivedPartition | undefined): number {
    const ledger = this.#ledgerOffset === this.#staleOffset ? undefined : this.#ledgerOffset;
    if (arrived === undefined) return ledger ?? 0;
    const { endOffset, lowOffset, committedOffset } = arrived.log;
    // A commit beyond the end is of a log that was replaced.
    const committed =
      committedOffset !== undefined && committedOffset <= endOffset ? committedOffset : undefined;
    const begin = this.#limits.fromEarliest ? lowOffset : endOffset;
    const position = Math.max(ledger ?? -1, committed ?? -1);
    return Math.max(position === -1 ? begin : position, lowOffset);
  }

  /** Resets after the log was recreated or truncated. */
  #reset(): void {
    this.#staleOffset = this.#ledgerOffset;
    this.#storedOffset = -1;
    this.#firstSeenMs = undefined;
    this.#delaysMs.length = 0;
  }
}
