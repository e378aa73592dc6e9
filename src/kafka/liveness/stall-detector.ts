import type { ConsumerObserver, ObservedPartition } from './consumer-observer.ts';
import type { PartitionLog } from './lag-probe.ts';

/** State of an assigned partition at one moment: what the consumer reports, and the brokers. */
export interface PartitionState
  extends Readonly<Pick<ObservedPartition, 'position' | 'deliveredOffset' | 'isInWork'>>,
    Pick<PartitionLog, 'lowOffset'> {
  /** `topic/partition` */
  readonly name: string;
  /** Offset after the last readable record; undefined before the first probe. */
  readonly endOffset: number | undefined;
  /** Offset that the group has committed; 0 without a commit. */
  readonly committedOffset: number;
  readonly isPaused: boolean;
  /** It is not to be read: that is no stall. */
  readonly isPausedByHandler: boolean;
  /** Time for which it has waited for ClickHouse; 0 while it does not. */
  readonly storeWaitMs: number;
}

/** Input of the stall detector at one moment. */
export interface Observation
  extends Readonly<Pick<ConsumerObserver, 'isMember' | 'joins' | 'lastError' | 'isFetching'>> {
  /** Monotonic time. */
  readonly elapsedMs: number;
  /** Start of the probe that read the brokers' offsets. */
  readonly probedMs: number;
  /** Reason why Kafka does not respond to the watchdog's own client; undefined while it does. */
  readonly outage: string | undefined;
  /** Time for which brokers have held the consumer back by a quota, up to now. @default 0 */
  readonly throttledMs?: number;
  /** The response to a fetch that was sent long ago is arriving. @default false */
  readonly isReceiving?: boolean;
  readonly partitions: readonly PartitionState[];
}

export interface Verdict {
  /** Reasons why consumption is unhealthy; empty when it is healthy. */
  readonly problems: readonly string[];
  /** Reason to restart the process; undefined without one. */
  readonly stalled: string | undefined;
  /** Longest time without progress while there was work. */
  readonly progressAgeMs: number;
}

export interface StallLimits {
  /** Time without progress after which the process is not ready. */
  readonly unreadyMs: number;
  /** Time without progress after which the process must exit. */
  readonly stalledMs: number;
  /** Commit interval: records may stay uncommitted for this long. */
  readonly commitEveryMs: number;
}

/** A shorter outage is a leader election and is not reported. */
const OUTAGE_TOLERATED_MS = 10_000;
/** Longest step that counts, after a suspended machine or a stopped process. */
const LONGEST_STEP_MS = 10_000;
/** A shorter wait of another partition for the store does not delay this one. */
const LONG_STORE_WAIT_MS = 2_000;
/** Partitions that fit into one fetch at least (see KafkaSource). A busy consumer reads them in turns. */
const PARTITIONS_A_ROUND = 4;
/** Time in which a quota that lets anything through lets a batch of records through: 15 of its windows. */
const HELD_MS = 180_000;
/** Progress of another partition within this time shows that the consumer is busy. */
const RECENT_MS = 10_000;

/**
 * Turns that a partition has missed when it counts as stuck: reads of others that are behind, by the number of
 * those. Brokers choose at random, so by chance that happens once in 400 million times.
 */
const TURNS_MISSED = 20;

/** A member that joins or leaves causes one or two rebalances. */
const JOINS_OF_A_LOOP = 4;

interface Track {
  /** The highest offset ever read: reading it again is no progress. */
  reach: number;
  reachedMs: number;
  /** Time at which it was read last; never before that. */
  readMs: number;
  committed: number;
  /** Time without read progress while records wait. */
  unreadMs: number;
  /** The log's end and the number of joins when that time began. */
  endBefore: number;
  joinsBefore: number;
  /** Reads of other partitions that are behind, within that time. */
  othersRead: number;
  /** Time without a commit while delivered records wait for one. */
  unstoredMs: number;
}

/**
 * Distinguishes a stuck consumer from an idle one. Pure: observations in, verdict out. Cost: O(partitions).
 *
 * Progress is an offset that is read or committed for the first time. Time counts only while there is work,
 * Kafka responds to the watchdog's client, and no partition waits for the store. So idle topics, outages of
 * Kafka or ClickHouse, and suspended machines never end a process.
 */
export class StallDetector {
  readonly #limits: StallLimits;
  readonly #tracks = new Map<string, Track>();
  #beforeMs: number | undefined;
  #outageMs = 0;
  #outsideMs = 0;
  #joins = 0;
  #throttledMs = 0;
  /** Time in which nothing was read though records wait, and the part of it that a quota took. */
  #held = { ms: 0, throttledMs: 0 };

  constructor(limits: StallLimits) {
    this.#limits = limits;
  }

  observe(now: Observation): Verdict {
    const stepMs = Math.min(now.elapsedMs - (this.#beforeMs ?? now.elapsedMs), LONGEST_STEP_MS);
    this.#beforeMs = now.elapsedMs;
    if (now.outage !== undefined) return this.#observeOutage(now.outage, stepMs);
    this.#outageMs = 0;
    // A member that left and rejoined between two observations is detected by its lag instead.
    this.#outsideMs = now.isMember || now.joins !== this.#joins ? 0 : this.#outsideMs + stepMs;
    this.#joins = now.joins;
    this.#keepOnly(now.partitions);
    const throttledMs = this.#throttledSince(now);
    const fetchMs = now.isReceiving === true ? 0 : Math.max(0, stepMs - throttledMs);
    const waitMs = Math.max(0, ...now.partitions.map(({ storeWaitMs }) => storeWaitMs));
    for (const partition of now.partitions) {
      const track = this.#tracks.get(partition.name);
      const isStoreAwaited = partition.storeWaitMs > 0 || waitMs >= LONG_STORE_WAIT_MS;
      if (track === undefined || isStoreAwaited || partition.isPausedByHandler) continue;
      if (lagOf(partition) > 0) track.unreadMs += fetchMs * this.#share(partition, now);
      if (isUnstored(partition)) track.unstoredMs += stepMs;
    }
    for (const partition of now.partitions) this.#advance(partition, now);
    this.#countTurns(now);
    this.#countHeld(now, stepMs, throttledMs);
    return this.#evaluate(now);
  }

  /** The part of a step in which a quota held the consumer back. */
  #throttledSince({ throttledMs = 0 }: Observation): number {
    const since = throttledMs - this.#throttledMs;
    this.#throttledMs = throttledMs;
    return since;
  }

  /** Counts the time in which nothing is read though records wait. */
  #countHeld({ partitions, elapsedMs }: Observation, stepMs: number, throttledMs: number): void {
    const isRead = [...this.#tracks.values()].some(({ readMs }) => readMs === elapsedMs);
    const isBehind = partitions.some((each) => lagOf(each) > 0);
    const { ms, throttledMs: before } = this.#held;
    this.#held =
      isRead || !isBehind
        ? { ms: 0, throttledMs: 0 }
        : { ms: ms + stepMs, throttledMs: before + throttledMs };
  }

  /** Counts the partitions that were read in this step, as turns that the others did not have. */
  #countTurns(now: Observation): void {
    const read = now.partitions.filter(
      (each) => lagOf(each) > 0 && this.#tracks.get(each.name)?.readMs === now.elapsedMs,
    );
    for (const [name, track] of this.#tracks) {
      if (track.unreadMs === 0) track.othersRead = 0;
      track.othersRead += read.filter((other) => other.name !== name).length;
    }
  }

  /** Resets all clocks while Kafka is down: the consumer gets its full time again afterwards. */
  #observeOutage(outage: string, stepMs: number): Verdict {
    this.#outageMs += stepMs;
    this.#outsideMs = 0;
    for (const track of this.#tracks.values()) {
      track.unreadMs = 0;
      track.unstoredMs = 0;
    }
    const isLong = this.#outageMs >= OUTAGE_TOLERATED_MS;
    const problem = `kafka: no response for ${seconds(this.#outageMs)} (${outage})`;
    return {
      problems: isLong ? [problem] : [],
      stalled: undefined,
      progressAgeMs: this.#outageMs,
    };
  }

  #keepOnly(partitions: readonly PartitionState[]): void {
    const names = new Set(partitions.map(({ name }) => name));
    for (const name of this.#tracks.keys()) if (!names.has(name)) this.#tracks.delete(name);
  }

  /** Resets the clocks of a partition that has made progress. */
  #advance(partition: PartitionState, now: Observation): void {
    const { name, position = 0, endOffset = 0, committedOffset } = partition;
    let track = this.#tracks.get(name);
    // A later probe finds an end below the highest offset read: the log was recreated.
    const isRecreated =
      track !== undefined && now.probedMs > track.reachedMs && endOffset < track.reach;
    if (track === undefined || (isRecreated && position < track.reach)) {
      track = {
        reach: position,
        reachedMs: now.elapsedMs,
        readMs: Number.NEGATIVE_INFINITY,
        committed: committedOffset,
        unreadMs: 0,
        othersRead: 0,
        endBefore: endOffset,
        joinsBefore: now.joins,
        unstoredMs: 0,
      };
      this.#tracks.set(name, track);
    }
    if (position > track.reach) {
      track.reach = position;
      track.reachedMs = now.elapsedMs;
      track.readMs = now.elapsedMs;
      track.unreadMs = 0;
    }
    if (lagOf(partition) === 0) track.unreadMs = 0;
    if (track.unreadMs === 0) {
      track.endBefore = endOffset;
      track.joinsBefore = now.joins;
    }
    if (committedOffset > track.committed || !isUnstored(partition)) track.unstoredMs = 0;
    track.committed = committedOffset;
  }

  /**
   * The share of time that counts: all of it, unless other partitions with lag make progress. Then fetches
   * are full, and brokers fill them from partitions in random order.
   */
  #share({ name }: PartitionState, now: Observation): number {
    const isBusy = now.partitions.some((other) => {
      const reachedMs = this.#tracks.get(other.name)?.reachedMs ?? 0;
      return other.name !== name && lagOf(other) > 0 && now.elapsedMs - reachedMs < RECENT_MS;
    });
    return isBusy ? Math.min(1, PARTITIONS_A_ROUND / now.partitions.length) : 1;
  }

  #evaluate(now: Observation): Verdict {
    const { unreadyMs, stalledMs, commitEveryMs } = this.#limits;
    const problems: string[] = [];
    if (this.#held.ms >= HELD_MS && this.#held.throttledMs >= this.#held.ms / 2)
      problems.push(heldText(this.#held.ms));
    let stalled: string | undefined;
    let ageMs = this.#outsideMs;
    const weigh = (ms: number, allowedMs: number, what: string, mayEnd = true) => {
      if (ms >= unreadyMs + allowedMs) problems.push(`kafka: ${what}`);
      if (ms >= stalledMs + allowedMs && mayEnd) stalled ??= what;
    };
    const error = now.lastError === undefined ? '' : ` (${now.lastError})`;
    const outside = `not a member of the group for ${seconds(this.#outsideMs)}${error}`;
    weigh(this.#outsideMs, 0, outside);
    for (const partition of now.partitions) {
      const track = this.#tracks.get(partition.name);
      if (track === undefined) continue;
      ageMs = Math.max(ageMs, track.unreadMs, track.unstoredMs);
      // The rest of a log may have no records. Once a record follows it, the consumer receives it, unless it
      // is stuck.
      const why = this.#whyUnread(partition, track, now);
      const isBehind = why !== noRecords || (partition.endOffset ?? 0) > track.endBefore;
      const turns = this.#turnsMissed(partition, track, now);
      const waiting = lagOf(partition);
      const unread = `${partition.name} has been at offset ${partition.position} for ${seconds(track.unreadMs)} with a lag of ${waiting}: ${why}`;
      if (turns >= TURNS_MISSED / 2) {
        weigh(track.unreadMs, 0, unread + error, isBehind && turns >= TURNS_MISSED);
      }
      const unstored = `no commit for ${partition.name} for ${seconds(track.unstoredMs)}: the committed offset is ${partition.committedOffset}${error}`;
      weigh(track.unstoredMs, commitEveryMs, unstored);
    }
    return { problems, stalled, progressAgeMs: ageMs };
  }

  /**
   * The number of times that a partition should have been read by now. Where others are read, however slowly,
   * the consumer works, and their turns are counted. Where none is read, the time is.
   */
  #turnsMissed({ name }: PartitionState, { othersRead }: Track, now: Observation): number {
    const behind = now.partitions.filter((each) => lagOf(each) > 0);
    const sinceMs = now.elapsedMs - this.#limits.stalledMs;
    const areRead = behind.some((other) => {
      return other.name !== name && (this.#tracks.get(other.name)?.readMs ?? 0) > sinceMs;
    });
    return areRead ? othersRead / behind.length : Number.POSITIVE_INFINITY;
  }

  #whyUnread(partition: PartitionState, track: Track, now: Observation): string {
    const joins = now.joins - track.joinsBefore;
    if (joins >= JOINS_OF_A_LOOP)
      return `the consumer has rejoined its group ${joins} times meanwhile`;
    if (!now.isMember) return outsideGroup;
    if (partition.isInWork) return 'processing of the current batch has not finished';
    if (partition.isPaused) return 'the partition is paused';
    if (!now.isFetching) return 'the consumer sends no fetch requests';
    return noRecords;
  }
}

/** A batch of records is whole or not at all: a restart would not help. */
function heldText(ms: number): string {
  return (
    `kafka: a quota of the brokers has let nothing through for ${seconds(ms)}: the next batch of records may be ` +
    'larger than consumer_byte_rate allows within its window (11 s by default). Raise the quota of this client, ' +
    'or have producers send smaller batches'
  );
}

const outsideGroup = 'the consumer is not a member of its group';
const noRecords = 'the consumer fetches but receives no records';

function lagOf({ endOffset, position }: PartitionState): number {
  return endOffset === undefined || position === undefined ? 0 : Math.max(0, endOffset - position);
}

/** True if delivered records are not committed; records removed by retention do not count. */
function isUnstored({ deliveredOffset, committedOffset, lowOffset }: PartitionState): boolean {
  return deliveredOffset >= Math.max(committedOffset, lowOffset);
}

function seconds(ms: number): string {
  return `${Math.floor(ms / 1000)} s`;
}
