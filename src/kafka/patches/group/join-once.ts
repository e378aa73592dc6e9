import { type Patchable, patchOnce } from '../patch-once.ts';

/** The used part of kafkajs' `ConsumerGroup` (src/consumer/consumerGroup.js). */
interface ConsumerGroup {
  joinAndSync(): Promise<void>;
}

/**
 * Allows one join of a consumer at a time. When a topic gets partitions, each fetch loop of kafkajs 2.2.4
 * (one per broker) joins as the same member (consumerGroup.js, `fetch`). The coordinator keeps only the last
 * request of a member. The other loops and their partitions wait until their requests time out.
 */
export function joinOnce(group: Patchable<ConsumerGroup>): void {
  const joining = new WeakMap<ConsumerGroup, Promise<void>>();
  patchOnce(group, 'joinOnce', ['joinAndSync'], ({ joinAndSync }) => ({
    joinAndSync(this: ConsumerGroup) {
      let join = joining.get(this);
      if (join === undefined) {
        join = joinAndSync.call(this).finally(() => joining.delete(this));
        joining.set(this, join);
      }
      return join;
    },
  }));
}
