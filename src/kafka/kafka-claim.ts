import { invariant } from '../base/invariant.ts';
import { type Claim, ClaimLostError, type CommittedOffset } from '../source/source.ts';
import type { BatchQueue } from './batch-queue.ts';
import { brokerErrorType, RejoinError } from './errors/broker-error.ts';

/** Errors that mean that another member owns the partition, or soon will. */
const fencedTypes = new Set([
  'ILLEGAL_GENERATION',
  'UNKNOWN_MEMBER_ID',
  'REBALANCE_IN_PROGRESS',
  'FENCED_INSTANCE_ID',
]);
/** The topic was deleted. Retrying the commit would apply it to a new topic of the same name. */
const GONE_TYPE = 'UNKNOWN_TOPIC_OR_PARTITION';

/** The source of a claim. */
export interface ClaimOwner {
  /** Sends a commit once, in the present generation: a claim ends with its own. */
  send(claim: KafkaClaim, offset: string, metadata: string): Promise<void>;
  lost(claim: KafkaClaim): void;
  pause(claim: KafkaClaim): void;
  readAgain(claim: KafkaClaim): void;
}

/** A partition assigned to this member, until the next join begins or the broker rejects a commit. */
export class KafkaClaim implements Claim {
  readonly topic: string;
  readonly partition: number;
  readonly #owner: ClaimOwner;
  #lost = false;
  /** The error that ended the claim; kafkajs rejoins on it. */
  refusal: unknown;
  /** The next offset to read; undefined until the start position is resolved. */
  position: number | undefined;
  /** The log that the position is of. */
  logId = '';
  /** Monotonic time at which that log was looked up. */
  foundMs = 0;
  /** Offset after the last record that was read, now or before: at or after the position. */
  knownTo = 0;
  /** Leader epoch of that record; -1 while unknown. */
  leaderEpoch = -1;
  /** Leader epoch of the log in which skipped offsets before the position were skipped; -1 for none. */
  gapEpoch = -1;
  /** Batches that its handler has not processed; undefined before the first. */
  queue: BatchQueue | undefined;
  /** The log may have changed unnoticed: no fetch was in flight, or another broker leads it. */
  isUnverified = false;
  /** Its handler has paused it. */
  isPaused = false;
  /** The latest commit that this member knows, in case kafkajs has overwritten it (see KafkaSource). */
  #latest: CommittedOffset | undefined;

  constructor(topic: string, partition: number, owner: ClaimOwner) {
    this.topic = topic;
    this.partition = partition;
    this.#owner = owner;
  }

  get isLost(): boolean {
    return this.#lost;
  }

  get name(): string {
    return `${this.topic}/${this.partition}`;
  }

  lose(): void {
    if (this.#lost) return;
    this.#lost = true;
    this.#owner.lost(this);
  }

  pause(): void {
    if (this.#lost) return;
    this.isPaused = true;
    this.#owner.pause(this);
  }

  readAgain(): void {
    if (this.#lost) return;
    invariant(this.isPaused, 'a partition must be paused before it is read again');
    this.#owner.readAgain(this);
  }

  async commit(offset: number, metadata: string): Promise<void> {
    if (this.#lost) throw new ClaimLostError(this.name);
    try {
      await this.#owner.send(this, String(offset), metadata);
    } catch (error) {
      const type = brokerErrorType(error);
      if (type !== undefined && !(fencedTypes.has(type) || type === GONE_TYPE)) throw error;
      // A commit without a response may still arrive, even after later ones: this member stops committing.
      this.refusal = type === GONE_TYPE || type === undefined ? new RejoinError(error) : error;
      this.lose();
      throw new ClaimLostError(this.name, { cause: error });
    }
    this.#latest = { offset, metadata };
  }

  /** Takes over the state of the previous claim on the same partition in the same generation. */
  succeed(before: KafkaClaim): void {
    this.#latest = before.#latest;
  }

  /** Returns the committed offset, given the one that the group reports. */
  known(found: CommittedOffset): CommittedOffset {
    if (found.offset !== undefined) this.#latest = found;
    return this.#latest ?? found;
  }
}
