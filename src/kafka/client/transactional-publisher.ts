import type { Producer, Transaction } from 'kafkajs';
import type { Config } from '../../config/schema.ts';
import { createKafkaClient } from './kafka-client.ts';
import type { OutgoingMessage } from './publisher.ts';

/** An offset that a group has reached. */
export interface Reached {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/**
 * Writes messages and commits offsets of groups, both or none. Once it is open, Kafka refuses earlier
 * publishers of the same name (fencing), and what they have committed can be read.
 */
export class TransactionalPublisher {
  readonly #producer: Producer;
  /** Begun ahead, because kafkajs fences others at its first transaction. */
  #next: Transaction;

  static async open(config: Config['kafka'], name: string): Promise<TransactionalPublisher> {
    const producer = createKafkaClient(config, { retries: 3 }).producer({
      transactionalId: name,
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
    });
    await producer.connect();
    return new TransactionalPublisher(producer, await producer.transaction());
  }

  private constructor(producer: Producer, first: Transaction) {
    this.#producer = producer;
    this.#next = first;
  }

  /**
   * @param messages by topic.
   * @param reached by group: offsets that it has reached.
   */
  async publish(
    messages: ReadonlyMap<string, readonly OutgoingMessage[]>,
    reached: ReadonlyMap<string, readonly Reached[]>,
  ): Promise<void> {
    const transaction = this.#next;
    try {
      for (const [topic, some] of messages) {
        const plain = some.map(({ timestampMs: _, ...message }) => message);
        await transaction.send({ topic, acks: -1, messages: plain });
      }
      for (const [consumerGroupId, places] of reached) {
        const topics = places.map(({ topic, partition, offset }) => ({
          topic,
          partitions: [{ partition, offset: String(offset) }],
        }));
        await transaction.sendOffsets({ consumerGroupId, topics });
      }
      await transaction.commit();
    } catch (error) {
      await transaction.abort().catch(() => undefined);
      throw error;
    }
    this.#next = await this.#producer.transaction();
  }

  close(): Promise<void> {
    return this.#producer.disconnect();
  }
}
