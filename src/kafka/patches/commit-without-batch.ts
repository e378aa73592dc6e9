import { invariant } from '../../base/invariant.ts';
import { type Patchable, patchOnce } from './patch-once.ts';

/** The used part of kafkajs' `ConsumerGroup` (src/consumer/consumerGroup.js). */
interface ConsumerGroup {
  readonly cluster: object;
  commitOffsets(offsets: unknown): Promise<void>;
  joinAndSync(): Promise<void>;
}

/** Groups by their cluster, which kafkajs gives to the consumer's assigners too. */
const groups = new WeakMap<object, ConsumerGroup>();

/**
 * Makes the committer of a batch available without a batch. kafkajs 2.2.4 (runner.js) gives it with records
 * only, and what a consumer commits without one (runner.js, `commitOffsets`) it repeats in later generations.
 * Of a log whose records are gone there is no batch, and that must be committed too.
 */
export function commitWithoutBatch(group: Patchable<ConsumerGroup>): void {
  patchOnce(group, 'commitWithoutBatch', ['joinAndSync'], ({ joinAndSync }) => ({
    joinAndSync(this: ConsumerGroup) {
      groups.set(this.cluster, this);
      return joinAndSync.call(this);
    },
  }));
}

/** Commits once, in the present generation of the consumer of this cluster, as the committer of a batch does. */
export async function commitOnce(
  cluster: object,
  { topic, partition, offset, metadata }: CommitOfPartition,
): Promise<void> {
  const group = groups.get(cluster);
  invariant(group !== undefined, 'a consumer must have joined before it commits');
  await group.commitOffsets({ topics: [{ topic, partitions: [{ partition, offset, metadata }] }] });
}

export interface CommitOfPartition {
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  readonly metadata: string;
}
