import type { Config } from '../../src/config/schema.ts';
import { createKafkaClient } from '../../src/kafka/client/kafka-client.ts';

/** A message and its partition. */
export interface PlacedMessage {
  readonly value: Buffer;
  readonly partition: number;
}

/** A topic with no other writer. */
export interface FeedTopic {
  readonly partitions: number;
  /** Tries once; when it rejects, each partition has either all of its messages or none. */
  send(messages: readonly PlacedMessage[]): Promise<void>;
  /** Messages in each partition; rejects while the broker does not respond. */
  ends(): Promise<number[]>;
  close(): Promise<void>;
}

/** @throws kafkajs' error when no broker responds */
export async function openFeedTopic(
  kafka: Config['kafka'],
  partitions: number,
): Promise<FeedTopic> {
  const topic = kafka.topics[0] as string;
  // One attempt a request: the caller, who knows which messages arrived, decides on a retry.
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
