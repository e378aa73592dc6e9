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
 * Writes messages and commits offsets of a group, both or none. Once it is open, Kafka refuses earlier
 * publishers of the same name (fencing), and what they have committed can be read.
 */
export class TransactionalPublisher {
  readonly #producer: Producer;
  readonly #groupId: string;
  /** Begun ahead, because kafkajs fences others at its first transaction. */
  #next: Transaction;

  /** @param groupId name of the group, and of the transactions. */
  static async open(config: Config['kafka'], groupId: string): Promise<TransactionalPublisher> {
    const producer = createKafkaClient(config, { retries: 3 }).producer({
      transactionalId: groupId,
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
    });
    await producer.connect();
    return new TransactionalPublisher(producer, groupId, await producer.transaction());
  }

  private constructor(producer: Producer, groupId: string, first: Transaction) {
    this.#producer = producer;
    this.#next = first;
    this.#groupId = groupId;
  }

  /** @param messages by topic. */
  async publish(
    messages: ReadonlyMap<string, readonly OutgoingMessage[]>,
    reached: readonly Reached[],
  ): Promise<void> {
    const transaction = this.#next;
    try {
      for (const [topic, some] of messages) {
        const plain = some.map(({ timestampMs: _, ...message }) => message);
        await transaction.send({ topic, acks: -1, messages: plain });
      }
      await transaction.sendOffsets({
        consumerGroupId: this.#groupId,
        topics: reached.map(({ topic, partition, offset }) => ({
          topic,
          partitions: [{ partition, offset: String(offset) }],
        })),
      });
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
