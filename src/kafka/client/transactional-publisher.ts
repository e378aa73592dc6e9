import type { Producer, Transaction } from 'kafkajs';
import type { Config } from '../../config/schema.ts';
import { loginsOf } from '../login/logins.ts';
import { createKafkaClient } from './kafka-client.ts';
import type { OutgoingMessage } from './publisher.ts';

/** An offset that a group has reached. */
export interface Reached {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly metadata?: string;
}

/** Retries of a request: a broker that restarts is away for some seconds, and a begun transaction may be ended. */
const RETRIES = 10;

/**
 * Writes messages and commits offsets of groups, both or none. Once it is open, Kafka refuses earlier
 * publishers of the same name (fencing), and what they have committed can be read.
 */
export class TransactionalPublisher {
  readonly #producer: Producer;
  /** Begun ahead, because kafkajs fences others at its first transaction. */
  #next: Transaction;

  static async open(config: Config['kafka'], name: string): Promise<TransactionalPublisher> {
    const producer = createKafkaClient(config, { retries: RETRIES }).producer({
      transactionalId: name,
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
    });
    await loginsOf(config).connect(producer);
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
        for (const part of partsOf(some)) {
          const plain = part.map(({ timestampMs: _, ...message }) => message);
          await transaction.send({ topic, acks: -1, messages: plain });
        }
      }
      for (const [consumerGroupId, places] of reached) {
        const topics = places.map(({ topic, partition, offset, metadata }) => ({
          topic,
          partitions: [{ partition, offset: String(offset), metadata: metadata ?? null }],
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

/** Bytes of messages in one request: a broker takes a batch of 1 MiB (`message.max.bytes`). */
const REQUEST_BYTES = 512 * 1024;

function lengthOf({ value, headers = {} }: OutgoingMessage): number {
  const parts = Object.entries(headers).flat();
  return parts.reduce((sum, part) => sum + part.length, value?.length ?? 0);
}

function* partsOf(messages: readonly OutgoingMessage[]): Generator<OutgoingMessage[]> {
  let part: OutgoingMessage[] = [];
  let bytes = 0;
  for (const message of messages) {
    const length = lengthOf(message);
    if (part.length > 0 && bytes + length > REQUEST_BYTES) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(message);
    bytes += length;
  }
  if (part.length > 0) yield part;
}
