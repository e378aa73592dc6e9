import { invariant } from '../base/invariant.ts';
import { type Claim, ClaimLostError, type CommittedOffset } from '../source/source.ts';
import { RejoinError } from './patches/rejoin-error.ts';

/** Broker answers that mean the partition is, or is about to be, somebody else's. */
const fencedTypes = new Set([
  'ILLEGAL_GENERATION',
  'UNKNOWN_MEMBER_ID',
  'REBALANCE_IN_PROGRESS',
  'FENCED_INSTANCE_ID',
]);
/** The topic is gone. The next of its name is another: a commit that is repeated would be of that. */
const GONE_TYPE = 'UNKNOWN_TOPIC_OR_PARTITION';

/** Sends a commit once, in the generation that a batch was read in. */
export type SendCommit = (offset: string, metadata: string) => Promise<void>;

/** A partition of this member, until the next join begins or the broker refuses a commit. */
export class KafkaClaim implements Claim {
  readonly topic: string;
  readonly partition: number;
  readonly #onLost: (claim: KafkaClaim) => void;
  #send: SendCommit | undefined;
  #lost = false;
  /** The broker's answer that has ended the claim: kafkajs is to join anew on it. */
  refusal: Error | undefined;
  /** Where reading goes on: undefined until the claim is placed. */
  position: number | undefined;
  /** Its topic may have been made anew unseen: nobody was told while no fetch was on its way. */
  isInDoubt = false;
  /** The latest commit that this member knows of, in case kafkajs has wiped it (see KafkaSource). */
  #latest: CommittedOffset | undefined;
  /** The log is another one than was committed for. */
  #isElsewhere = false;

  constructor(topic: string, partition: number, onLost: (claim: KafkaClaim) => void) {
    this.topic = topic;
    this.partition = partition;
    this.#onLost = onLost;
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
    this.#onLost(this);
  }

  /** Commits go out by the latest batch's own committer. */
  sendBy(send: SendCommit): void {
    this.#send = send;
  }

  async commit(offset: number, metadata: string): Promise<void> {
    if (this.#lost) throw new ClaimLostError(this.name);
    invariant(this.#send !== undefined, 'a partition must read before it commits');
    try {
      await this.#send(String(offset), metadata);
    } catch (error) {
      const type = error instanceof Error && 'type' in error ? String(error.type) : '';
      const isAnswer = error instanceof Error && type !== '';
      if (isAnswer && !(fencedTypes.has(type) || type === GONE_TYPE)) throw error;
      // Without an answer it may arrive yet, also after later ones: this member commits no more.
      this.refusal = type === GONE_TYPE || !isAnswer ? new RejoinError(error) : error;
      this.lose();
      throw new ClaimLostError(this.name, { cause: error });
    }
    this.#latest = { offset, metadata };
  }

  /** Is to take the place of a claim on the same partition, of the same generation. */
  succeed(before: KafkaClaim, isElsewhere: boolean): void {
    this.#latest = before.#latest;
    this.#isElsewhere = isElsewhere;
  }

  /** What is committed, given what the group says is. */
  known(found: CommittedOffset): CommittedOffset {
    // Reading went back, so the offset was beyond the log's end: the commit is not of this log.
    if (this.#isElsewhere) return { offset: undefined, metadata: '' };
    if (found.offset !== undefined) this.#latest = found;
    return this.#latest ?? found;
  }
}
