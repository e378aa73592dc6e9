import { type Patchable, patchOnce } from './patch-once.ts';
import { RejoinError } from './rejoin-error.ts';

/** As much of kafkajs' `ConsumerGroup` as is needed; src/consumer/consumerGroup.js there. */
interface ConsumerGroup {
  recoverFromFetch(error: unknown): Promise<void>;
}

/**
 * Has a consumer join anew, so that its partitions are placed anew, where a log is not what it was.
 * kafkajs 2.2.4 (consumerGroup.js, `recoverFromFetch`) does something else in two cases:
 *
 * - A topic is gone. It means to join, but asks what has become of the topics first, and that fails
 *   while one is gone. It then fetches as before, and once a topic of the same name is there it reads
 *   on in it where it was in the other.
 * - The offset is out of range. It commits another one in its place, with nothing beside it: what the
 *   group knew of a chunk that had been begun is gone, and whoever comes next counts it again.
 */
export function rejoinOnLogChange(group: Patchable<ConsumerGroup>): void {
  patchOnce(group, 'rejoinOnLogChange', ['recoverFromFetch'], ({ recoverFromFetch }) => ({
    async recoverFromFetch(this: ConsumerGroup, error: unknown) {
      if (error instanceof Error && error.name === 'KafkaJSOffsetOutOfRange') {
        throw new RejoinError(error);
      }
      try {
        await recoverFromFetch.call(this, error);
      } catch (failure) {
        if (!isOfTopic(error)) throw failure;
        throw new RejoinError(failure);
      }
    },
  }));
}

function isOfTopic(error: unknown): boolean {
  return error instanceof Error && 'type' in error && error.type === 'UNKNOWN_TOPIC_OR_PARTITION';
}
