import { type Patchable, patchOnce } from './patch-once.ts';

/** As much of kafkajs' `ConsumerGroup` as is needed; src/consumer/consumerGroup.js there. */
interface ConsumerGroup {
  joinAndSync(): Promise<void>;
}

/**
 * Has a consumer join its group once at a time. When a topic gets partitions, each fetch loop of
 * kafkajs 2.2.4, one a broker, joins by itself (consumerGroup.js, `fetch`), as the same member. The
 * coordinator keeps one request of a member: it forgets the first for the second, and the loop that
 * had sent it waits, and its broker's partitions with it, until the request times out.
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
