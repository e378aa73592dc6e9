import { RejoinError } from './rejoin-error.ts';

/** As much of kafkajs' `ConsumerGroup` as is needed; src/consumer/consumerGroup.js there. */
interface ConsumerGroup {
  recoverFromFetch(error: unknown): Promise<void>;
}

const mended = new WeakSet<object>();

/**
 * Has a consumer join anew after a topic of its was gone. kafkajs 2.2.4 means to do so
 * (consumerGroup.js, `recoverFromFetch`), but asks what has become of the topics first, and that
 * fails while one is gone. It then fetches as before, and once a topic of the same name is there it
 * reads on in it where it was in the other. Here it joins, so that partitions are placed anew.
 */
export function rejoinForTopics(group: { readonly prototype: ConsumerGroup }): void {
  const { prototype } = group;
  if (mended.has(prototype)) return;
  mended.add(prototype);
  const { recoverFromFetch } = prototype;
  prototype.recoverFromFetch = async function (this: ConsumerGroup, error: unknown) {
    try {
      await recoverFromFetch.call(this, error);
    } catch (failure) {
      if (!isOfTopic(error)) throw failure;
      throw new RejoinError(failure);
    }
  };
}

function isOfTopic(error: unknown): boolean {
  return error instanceof Error && 'type' in error && error.type === 'UNKNOWN_TOPIC_OR_PARTITION';
}
