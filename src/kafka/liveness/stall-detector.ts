/** What is known of one partition of ours at a moment. */
export interface PartitionState {
  /** `topic/partition` */
  readonly name: string;
  /** Offset after the last readable record, as the watchdog's own client sees it. */
  readonly endOffset: number | undefined;
  /** The next offset to be read; undefined while nobody can tell. */
  readonly position: number | undefined;
  /** Offset of the log's first record. */
  readonly lowOffset: number;
  /** What the group has committed; 0 for nothing. */
  readonly committedOffset: number;
  /** The furthest record handed over to be counted, which a commit must pass; -1 for none. */
  readonly handedOffset: number;
  /** A batch of it has been handed over and has not come back. */
  readonly isInWork: boolean;
  readonly isPaused: boolean;
  /** How long it has been waiting for the store; 0 while it is not. */
  readonly storeWaitMs: number;
}

/** What the watchdog sees at a moment. */
export interface Observation {
  /** A clock that never goes back. */
  readonly elapsedMs: number;
  /** When the look began that `endOffset`, `lowOffset` and `committedOffset` come from. */
  readonly lookedMs: number;
  /** Why Kafka does not answer the watchdog's own client; undefined while it does. */
  readonly outage: string | undefined;
  /** Whether the group has us as a member. */
  readonly isMember: boolean;
  /** Times the group has let us in so far. */
  readonly joins: number;
  /** What the consumer last failed with, to be told beside. */
  readonly lastError: string | undefined;
  /** Whether the consumer asks the brokers for records. */
  readonly isFetching: boolean;
  readonly partitions: readonly PartitionState[];
}

export interface Verdict {
  /** Why reading does not go on as it should; empty when it does. */
  readonly problems: readonly string[];
  /** Why only a new process helps; undefined while one is not needed. */
  readonly stalled: string | undefined;
  /** Longest time without progress where there was something to do. */
  readonly progressAgeMs: number;
}

export interface StallLimits {
  /** Without progress for this long, the process is not ready. */
  readonly unreadyMs: number;
  /** Without progress for this long, the process must end. */
  readonly stalledMs: number;
  /** What is read need not be committed sooner than this. */
  readonly commitEveryMs: number;
}

/** Kafka away for this long is told; sooner it is a leader election. */
const OUTAGE_TOLERATED_MS = 10_000;
/** What a suspended machine or a stopped process counts for, at most: the time was not ours. */
const LONGEST_STEP_MS = 10_000;
/** A partition may wait for another's store call in the same round; shorter ones are no reason. */
const LONG_STORE_WAIT_MS = 2_000;
/** Partitions that fit into one fetch at least, see KafkaSource: a busy consumer takes turns. */
const PARTITIONS_A_ROUND = 4;
/** How long ago a partition's progress still shows that the consumer is busy with it. */
const RECENT_MS = 10_000;

/** A rebalance for a member that comes or goes is one or two. */
const JOINS_OF_A_LOOP = 4;

/** What is remembered of a partition. */
interface Track {
  /** The furthest offset ever read: reading the same again is no progress. */
  reach: number;
  reachedMs: number;
  committed: number;
  /** Time without progress in reading, with records waiting. */
  unreadMs: number;
  /** The log's end, and the joins so far, when that began. */
  endBefore: number;
  joinsBefore: number;
  /** Time without progress in committing, with records handed over. */
  unstoredMs: number;
}

/**
 * Tells a consumer that is stuck from one that has nothing to do. Pure: observations in, verdict
 * out, O(partitions) each.
 *
 * Progress is an offset that was never reached before, read or committed. Time counts only while
 * there is something to do, Kafka answers somebody else, and no store is waited for; so an idle
 * topic, a broker or a ClickHouse that is away, and a machine that slept never end a process.
 */
export class StallDetector {
  readonly #limits: StallLimits;
  readonly #tracks = new Map<string, Track>();
  #beforeMs: number | undefined;
  #outageMs = 0;
  #outsideMs = 0;
  #joins = 0;

  constructor(limits: StallLimits) {
    this.#limits = limits;
  }

  observe(now: Observation): Verdict {
    const stepMs = Math.min(now.elapsedMs - (this.#beforeMs ?? now.elapsedMs), LONGEST_STEP_MS);
    this.#beforeMs = now.elapsedMs;
    if (now.outage !== undefined) return this.#away(now.outage, stepMs);
    this.#outageMs = 0;
    // One that was in and out again between two observations is told by what it does not read.
    this.#outsideMs = now.isMember || now.joins !== this.#joins ? 0 : this.#outsideMs + stepMs;
    this.#joins = now.joins;
    this.#keepOnly(now.partitions);
    const waitMs = Math.max(0, ...now.partitions.map(({ storeWaitMs }) => storeWaitMs));
    for (const partition of now.partitions) {
      const track = this.#tracks.get(partition.name);
      const isStoreAwaited = partition.storeWaitMs > 0 || waitMs >= LONG_STORE_WAIT_MS;
      if (track === undefined || isStoreAwaited) continue;
      if (lagOf(partition) > 0) track.unreadMs += stepMs * this.#share(partition, now);
      if (isUnstored(partition)) track.unstoredMs += stepMs;
    }
    for (const partition of now.partitions) this.#advance(partition, now);
    return this.#evaluate(now);
  }

  /** While Kafka is away nothing is held against the consumer, and it gets its time anew after. */
  #away(outage: string, stepMs: number): Verdict {
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

  /** Sets back the clocks of what has moved on. */
  #advance(partition: PartitionState, now: Observation): void {
    const { name, position = 0, endOffset = 0, committedOffset } = partition;
    let track = this.#tracks.get(name);
    // A log that ends before what was reached, by a later look, is another log of the same name.
    const isAnew = track !== undefined && now.lookedMs > track.reachedMs && endOffset < track.reach;
    if (track === undefined || (isAnew && position < track.reach)) {
      track = {
        reach: position,
        reachedMs: now.elapsedMs,
        committed: committedOffset,
        unreadMs: 0,
        endBefore: endOffset,
        joinsBefore: now.joins,
        unstoredMs: 0,
      };
      this.#tracks.set(name, track);
    }
    if (position > track.reach) {
      track.reach = position;
      track.reachedMs = now.elapsedMs;
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
   * How much of the time counts: all of it, unless the consumer is busy with others that are
   * behind as well. Then fetches are full, and brokers fill them from partitions in random order.
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
      // What is asked for and not given may be a rest of the log that holds no record. Once
      // something is written behind it, it is given too, unless we are stuck.
      const why = this.#whyUnread(partition, track, now);
      const mayEnd = why !== nothingGiven || (partition.endOffset ?? 0) > track.endBefore;
      const waiting = lagOf(partition);
      const unread = `${partition.name} has been at offset ${partition.position} for ${seconds(track.unreadMs)} with a lag of ${waiting}: ${why}`;
      weigh(track.unreadMs, 0, unread + error, mayEnd);
      const unstored = `no commit for ${partition.name} for ${seconds(track.unstoredMs)}: the committed offset is ${partition.committedOffset}${error}`;
      weigh(track.unstoredMs, commitEveryMs, unstored);
    }
    return { problems, stalled, progressAgeMs: ageMs };
  }

  #whyUnread(partition: PartitionState, track: Track, now: Observation): string {
    const joins = now.joins - track.joinsBefore;
    if (joins >= JOINS_OF_A_LOOP)
      return `the consumer has rejoined its group ${joins} times meanwhile`;
    if (!now.isMember) return outsideGroup;
    if (partition.isInWork) return 'processing of the current batch has not finished';
    if (partition.isPaused) return 'the partition is paused';
    if (!now.isFetching) return 'the consumer sends no fetch requests';
    return nothingGiven;
  }
}

const outsideGroup = 'the consumer is not a member of its group';
const nothingGiven = 'the consumer fetches but receives no records';

function lagOf({ endOffset, position }: PartitionState): number {
  return endOffset === undefined || position === undefined ? 0 : Math.max(0, endOffset - position);
}

/** Whether records were handed over that are not committed; what retention took does not count. */
function isUnstored({ handedOffset, committedOffset, lowOffset }: PartitionState): boolean {
  return handedOffset >= Math.max(committedOffset, lowOffset);
}

function seconds(ms: number): string {
  return `${Math.floor(ms / 1000)} s`;
}
