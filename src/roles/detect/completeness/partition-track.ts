import type { PartitionProgress } from '../../../sink/windows/window-progress.ts';
import type { ArrivedPartition } from './arrival-log.ts';

export interface TrackLimits {
  /** How long windows wait for a partition, and for events that come late, at most. */
  readonly maxWaitMs: number;
  /** What has arrived is stored by then while all is well. */
  readonly normalLagMs: number;
  /** Whether a group that has committed nothing reads a log from its begin. */
  readonly fromEarliest: boolean;
}

/** How the others stand. */
export interface Surroundings {
  readonly nowMs: number;
  /** Since the last time; a stopped process counts for little. */
  readonly stepMs: number;
  /** Whether others store what they have. */
  readonly othersStore: boolean;
  /** Whether others have stored all that there is. */
  readonly othersAreThere: boolean;
  readonly isLive: boolean;
}

/** Delays that are remembered: a single event that was late shows in one of them. */
const delaysKept = 3;
/** Who gains less than this part of its distance while it is waited for is not waited for any longer. */
const leastGain = 0.1;

/** How far one partition has come: what of it has arrived, what is stored, and whether it is worth waiting for. */
export class PartitionTrack {
  readonly name: string;
  readonly #limits: TrackLimits;
  #watermarkMs = 0;
  #flushedMs = 0;
  #storedOffset = -1;
  #endOffset: number | undefined;
  /** Ledger's end of a log that is no more. */
  #staleOffset: number | undefined;
  #ledgerOffset: number | undefined;
  #storedUntilMs: number | undefined;
  #firstSeenMs: number | undefined;
  /** When something was stored, by the clock of whoever looks; -Infinity before. */
  #advancedMs = Number.NEGATIVE_INFINITY;
  #goodMs = Number.NEGATIVE_INFINITY;
  readonly #delaysMs: number[] = [];
  #isGivenUp = false;
  /** Time in which others stored, and as of when in it the distance has last become less. */
  #waitedMs = 0;
  #gainedMs = 0;
  #peakMs = 0;

  constructor(name: string, limits: TrackLimits) {
    this.name = name;
    this.#limits = limits;
  }

  /**
   * @param arrived what Kafka says; undefined where it was never asked.
   * @param isNewer whether Kafka was asked after the ledger was read the last time.
   * @param progress what the ledger says; undefined for nothing.
   */
  observe(
    nowMs: number,
    arrived: ArrivedPartition | undefined,
    isNewer: boolean,
    progress: PartitionProgress | undefined,
  ): void {
    const endOffset = arrived?.log.endOffset;
    if (isNewer && endOffset !== undefined && endOffset < this.#storedOffset) this.#beginAnew();
    this.#endOffset = endOffset;
    this.#firstSeenMs ??= nowMs;
    this.#ledgerOffset = progress?.endOffset;
    const storedOffset = Math.max(this.#storedOffset, this.#placeOf(arrived));
    if (this.#storedOffset >= 0 && storedOffset > this.#storedOffset) this.#advancedMs = nowMs;
    this.#storedOffset = storedOffset;
    const seen = arrived?.history.storedUntil(storedOffset);
    this.#storedUntilMs = seen?.lastMs;
    if (progress !== undefined) this.#observeGood(nowMs, progress, seen?.firstMs);
  }

  /** Event time that it has reached; 0 where none of its events was good. */
  get watermarkMs(): number {
    return this.#watermarkMs;
  }

  /** When its last chunk with a good event was stored, by the clock of the store. */
  get flushedMs(): number {
    return this.#flushedMs;
  }

  get lagMessages(): number {
    return Math.max(0, (this.#endOffset ?? 0) - this.#storedOffset);
  }

  get isGivenUp(): boolean {
    return this.#isGivenUp;
  }

  /** All that had arrived by then is stored; undefined where Kafka was not asked so early. */
  get storedUntilMs(): number | undefined {
    return this.#storedUntilMs;
  }

  /** How long its events take to arrive; undefined while there was none. */
  get delayMs(): number | undefined {
    return this.#delaysMs.length === 0 ? undefined : Math.min(...this.#delaysMs);
  }

  /** Whether its events are of the time at which they arrive. */
  get isLive(): boolean {
    const { delayMs } = this;
    const isKnown = this.#storedUntilMs !== undefined && delayMs !== undefined;
    return isKnown && delayMs <= this.#limits.maxWaitMs;
  }

  /** Whether its events are of another time than those at which they arrive: nobody waits for them. */
  get isDisplaced(): boolean {
    const { delayMs } = this;
    return delayMs !== undefined && delayMs > this.#limits.maxWaitMs;
  }

  /** Whether something of it was stored lately. */
  isStoring(nowMs: number): boolean {
    return nowMs - this.#advancedMs <= this.#limits.normalLagMs;
  }

  /** Whether good events of it were stored within so long. */
  hadEvents(nowMs: number, withinMs: number): boolean {
    return nowMs - this.#goodMs <= withinMs;
  }

  /** Since when something of it has been waiting to be stored; undefined where nothing does. */
  waitingSinceMs(): number | undefined {
    if (this.lagMessages === 0) return undefined;
    return this.#storedUntilMs ?? this.#firstSeenMs;
  }

  /**
   * Event time before which it has no more to give: live, all that had arrived by then less what its events take
   * to arrive; before Kafka was asked, and where nothing is live, its watermark.
   */
  reachMs(isLive: boolean): number {
    const watermarkMs = this.#watermarkMs > 0 ? this.#watermarkMs : Number.NEGATIVE_INFINITY;
    if (!isLive || this.#storedUntilMs === undefined) return watermarkMs;
    return this.#storedUntilMs - (this.isLive ? Math.max(0, this.delayMs ?? 0) : 0);
  }

  /**
   * Waits for it no longer where it is behind, others are not, and it has gained nothing that is worth it while
   * they stored: at least a tenth of what it is behind in each `maxWaitMs`.
   */
  weigh(others: Surroundings): void {
    const { normalLagMs, maxWaitMs } = this.#limits;
    const behindMs = others.nowMs - this.reachMs(others.isLive);
    const isThere = this.lagMessages === 0 || behindMs <= normalLagMs;
    const hasGained = others.othersAreThere
      ? behindMs <= (1 - leastGain) * this.#peakMs
      : this.#advancedMs === others.nowMs;
    if (others.othersStore) this.#waitedMs += others.stepMs;
    if (isThere || hasGained) {
      this.#gainedMs = this.#waitedMs;
      this.#peakMs = behindMs;
    }
    this.#peakMs = Math.max(this.#peakMs, behindMs);
    if (isThere) this.#isGivenUp = false;
    else if (behindMs > maxWaitMs && this.#waitedMs - this.#gainedMs >= maxWaitMs) {
      this.#isGivenUp = true;
    }
  }

  /** Takes what the ledger says of its good events. */
  #observeGood(nowMs: number, progress: PartitionProgress, arrivedMs: number | undefined): void {
    const { watermarkMs, flushedMs, newestMs } = progress;
    if (watermarkMs <= 0 || flushedMs <= this.#flushedMs) return;
    const isFirst = this.#flushedMs === 0;
    this.#watermarkMs = watermarkMs;
    this.#flushedMs = flushedMs;
    if (!isFirst) this.#goodMs = nowMs;
    // What was stored before anybody looked had arrived by then.
    const delayMs = (isFirst ? flushedMs : (arrivedMs ?? Number.NaN)) - newestMs;
    if (Number.isNaN(delayMs)) return;
    this.#delaysMs.push(delayMs);
    if (this.#delaysMs.length > delaysKept) this.#delaysMs.shift();
  }

  /** The offset up to which all is stored, or is gone. */
  #placeOf(arrived: ArrivedPartition | undefined): number {
    const ledger = this.#ledgerOffset === this.#staleOffset ? undefined : this.#ledgerOffset;
    if (arrived === undefined) return ledger ?? 0;
    const { endOffset, lowOffset, committedOffset } = arrived.log;
    // Nothing is after the end: that was committed in a log that is no more.
    const committed =
      committedOffset !== undefined && committedOffset <= endOffset ? committedOffset : undefined;
    const begin = this.#limits.fromEarliest ? lowOffset : endOffset;
    const place = Math.max(ledger ?? -1, committed ?? -1);
    return Math.max(place === -1 ? begin : place, lowOffset);
  }

  /** The log was deleted and made again, or was cut. */
  #beginAnew(): void {
    this.#staleOffset = this.#ledgerOffset;
    this.#storedOffset = -1;
    this.#firstSeenMs = undefined;
    this.#delaysMs.length = 0;
  }
}
