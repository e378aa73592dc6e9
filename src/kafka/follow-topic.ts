import { randomUUID } from 'node:crypto';
import type { Config } from '../config/schema.ts';
import { createKafkaClient, kafkaError } from './client/kafka-client.ts';

export interface TopicMessage {
  readonly partition: number;
  readonly offset: number;
  readonly timestampMs: number;
  readonly key: string | undefined;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, string>>;
}

export interface FollowedTopic {
  /** Offset after the last record that was passed, by partition. Transaction markers count, which nobody is given. */
  readonly positions: ReadonlyMap<number, number>;
  /** Stops reading; commits nothing. */
  stop(): Promise<void>;
}

/**
 * Reads a topic from its beginning, in a separate consumer group that commits nothing. Each message is
 * delivered once: after a rejoin the consumer reads again from the beginning and skips delivered messages.
 *
 * @throws OperatorError when the cluster or the topic is not available.
 */
export async function followTopic(
  config: Config['kafka'],
  topic: string,
  onMessage: (message: TopicMessage) => void,
): Promise<FollowedTopic> {
  const consumer = createKafkaClient(config, { retries: 3 }).consumer({
    groupId: `${config.client_id}-follow-${randomUUID()}`,
    allowAutoTopicCreation: false,
    maxWaitTimeInMs: 250,
  });
  const nextOffsets = new Map<number, number>();
  const positions = new Map<number, number>();
  consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload: { partition, lastOffset } }) => {
    positions.set(partition, Math.max(positions.get(partition) ?? 0, Number(lastOffset) + 1));
  });
  try {
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachMessage: async ({ partition, message }) => {
        const offset = Number(message.offset);
        if (offset < (nextOffsets.get(partition) ?? 0)) return;
        nextOffsets.set(partition, offset + 1);
        const headers = Object.entries(message.headers ?? {});
        onMessage({
          partition,
          offset,
          timestampMs: Number(message.timestamp),
          key: message.key?.toString(),
          value: message.value,
          headers: Object.fromEntries(headers.map(([name, value]) => [name, String(value)])),
        });
      },
    });
  } catch (error) {
    await consumer.disconnect().catch(() => undefined);
    throw kafkaError(error, `read topic ${topic}`, config);
  }
  return { positions, stop: () => consumer.disconnect() };
}
