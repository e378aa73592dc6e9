import { type Patchable, patchOnce } from '../patch-once.ts';

/** An assigner that wants to do something while its member still has its partitions. */
interface PreparingAssigner {
  prepareJoin?(): Promise<void>;
}

/** The used part of kafkajs' `ConsumerGroup` (src/consumer/consumerGroup.js). */
interface ConsumerGroup {
  readonly assigners: readonly PreparingAssigner[];
  readonly memberId: string | null;
  joinAndSync(): Promise<void>;
}

/**
 * Lets assigners prepare for a join. Until all members have joined, the coordinator takes commits of the
 * generation before. kafkajs 2.2.4 joins at once, so what was read and not stored is read again by others.
 */
export function prepareJoin(group: Patchable<ConsumerGroup>): void {
  patchOnce(group, 'prepareJoin', ['joinAndSync'], ({ joinAndSync }) => ({
    async joinAndSync(this: ConsumerGroup) {
      // A member that the group does not know has nothing that it may commit.
      if (this.memberId !== null) {
        await Promise.all(this.assigners.map((assigner) => assigner.prepareJoin?.()));
      }
      await joinAndSync.call(this);
    },
  }));
}
