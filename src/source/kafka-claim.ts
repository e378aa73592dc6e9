import { invariant } from '../base/invariant.ts';
import { type Claim, ClaimLostError } from './source.ts';

/** Broker answers that mean the partition is, or is about to be, somebody else's. */
const fencedTypes = new Set([
  'ILLEGAL_GENERATION',
  'UNKNOWN_MEMBER_ID',
  'REBALANCE_IN_PROGRESS',
  'FENCED_INSTANCE_ID',
]);

/** Sends a commit once, in the generation that a batch was read in. */
export type SendCommit = (offset: string, metadata: string) => Promise<void>;

/** A partition of this member, until the next join begins or the broker refuses a commit. */
export class KafkaClaim implements Claim {
  readonly topic: string;
  readonly partition: number;
  readonly #onLost: (claim: KafkaClaim) => void;
  #send: SendCommit | undefined;
  #lost = false;
  /** Where reading goes on: undefined until the claim is placed. */
  position: number | undefined;
  /** What the group has, as far as this claim knows: kafkajs may wipe it (see KafkaSource). */
  known: { readonly offset: number | undefined; readonly metadata: string } | undefined;

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
    invariant(this.#send !== undefined, 'a partition commits before it has read');
    try {
      await this.#send(String(offset), metadata);
    } catch (error) {
      const type = error instanceof Error && 'type' in error ? String(error.type) : '';
      if (!fencedTypes.has(type)) throw error;
      this.lose();
      throw new ClaimLostError(this.name, { cause: error });
    }
    this.known = { offset, metadata };
  }
}
