import type { Config } from '../../src/config/schema.ts';
import { createKafkaClient } from '../../src/kafka/client/kafka-client.ts';

/** A message and where it is to go. */
export interface PlacedMessage {
  readonly value: Buffer;
  readonly partition: number;
}

/** A topic that nobody else writes to. */
export interface FeedTopic {
  readonly partitions: number;
  /** Tries once; when it rejects, each partition has either all that was for it or nothing. */
  send(messages: readonly PlacedMessage[]): Promise<void>;
  /** Messages in each partition; rejects while the broker does not say. */
  ends(): Promise<number[]>;
  close(): Promise<void>;
}

/** @throws what kafkajs throws when no broker answers. */
export async function openFeedTopic(
  kafka: Config['kafka'],
  partitions: number,
): Promise<FeedTopic> {
  const topic = kafka.topics[0] as string;
  // One attempt a request: whether to repeat it is decided by whoever knows what has arrived.
  const client = createKafkaClient(kafka, { retries: 0, requestTimeoutMs: 15_000 });
  const producer = client.producer({ allowAutoTopicCreation: false, retry: { retries: 0 } });
  const admin = client.admin();
  await producer.connect();
  await admin.connect();
  return {
    partitions,
    async send(messages) {
      await producer.send({ topic, acks: -1, messages: [...messages] });
    },
    async ends() {
      const offsets = await admin.fetchTopicOffsets(topic);
      if (offsets.length !== partitions) throw new Error(`${offsets.length} partitions answer`);
      const sorted = offsets.toSorted((a, b) => a.partition - b.partition);
      return sorted.map(({ high }) => Number(high));
    },
    async close() {
      await producer.disconnect().catch(() => undefined);
      await admin.disconnect().catch(() => undefined);
    },
  };
}
