import { brokerErrorType, RejoinError } from '../../errors/broker-error.ts';
import { type Patchable, patchOnce } from '../patch-once.ts';

/** The used part of kafkajs' `ConsumerGroup` (src/consumer/consumerGroup.js). */
interface ConsumerGroup {
  recoverFromFetch(error: unknown): Promise<void>;
}

/**
 * Makes a consumer rejoin, and so resolve its start positions, when a log has changed. kafkajs 2.2.4
 * (consumerGroup.js, `recoverFromFetch`) fails in two cases:
 *
 * - A topic is deleted. kafkajs reads the topics' metadata before it joins, which fails. It continues to
 *   fetch, and reads a new topic of the same name at the old offset.
 * - The offset is out of range. kafkajs commits another offset without metadata. The intent of a pending
 *   chunk is lost, and its successor counts the chunk again.
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
        if (brokerErrorType(error) !== 'UNKNOWN_TOPIC_OR_PARTITION') throw failure;
        throw new RejoinError(failure);
      }
    },
  }));
}
