import type { Message } from 'kafkajs';
import type { Config } from '../../config/schema.ts';
import { loginsOf } from '../login/logins.ts';
import { createKafkaClient, kafkaError } from './kafka-client.ts';
import type { OutgoingMessage, Publisher } from './publisher.ts';

/** Opens a publisher on the configured cluster. @throws OperatorError when no broker responds. */
export async function openKafkaPublisher(config: Config['kafka']): Promise<Publisher> {
  const producer = createKafkaClient(config, { retries: 3 }).producer({
    allowAutoTopicCreation: false,
  });
  try {
    await loginsOf(config).connect(producer);
  } catch (error) {
    throw kafkaError(error, 'write to Kafka', config);
  }
  return {
    async publish(topic: string, messages: readonly OutgoingMessage[]): Promise<void> {
      if (messages.length === 0) return;
      try {
        await producer.send({ topic, acks: -1, messages: messages.map(kafkaMessageOf) });
      } catch (error) {
        throw kafkaError(error, `write to topic ${topic}`, config);
      }
    },
    close: () => producer.disconnect(),
  };
}

function kafkaMessageOf({ timestampMs, ...message }: OutgoingMessage): Message {
  return timestampMs === undefined ? message : { ...message, timestamp: String(timestampMs) };
}
