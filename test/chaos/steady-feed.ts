import { setTimeout as sleep } from 'node:timers/promises';
import type { Producer } from 'kafkajs';
import type { Config } from '../../src/config/schema.ts';
import { createKafkaClient } from '../../src/kafka/client/kafka-client.ts';
import type { StageSums } from '../e2e/kit/truth.ts';
import { MessagePool } from './message-pool.ts';

export interface SteadyFeedOptions {
  readonly kafka: Config['kafka'];
  readonly partitions: number;
  readonly seed: string;
  readonly eventsPerSecond: number;
  readonly eventsPerMessage: number;
}

const sliceMs = 50;
const poolMessages = 2_000;

/**
 * Publishes events of now at an even rate, whatever happens to them. The messages are made once and sent in
 * turn with the time of their sending, to use as little of the machine as possible.
 */
export class SteadyFeed {
  /** Messages in each partition. */
  readonly ends: number[];
  /** Rejects when a message could not be published: the contents of the topic are then unknown. */
  readonly done: Promise<void>;
  readonly #options: SteadyFeedOptions;
  readonly #producer: Producer;
  readonly #pool: MessagePool;
  readonly #startedMs = performance.now();
  readonly #stopping = new AbortController();
  #sent = 0;
  #endedMs: number | undefined;

  private constructor(options: SteadyFeedOptions, producer: Producer) {
    const { partitions, seed, eventsPerMessage } = options;
    this.#options = options;
    this.#producer = producer;
    this.#pool = new MessagePool({ seed, messages: poolMessages, eventsPerMessage });
    this.ends = new Array<number>(partitions).fill(0);
    this.done = this.#run();
    this.done.catch(() => undefined);
  }

  static async start(options: SteadyFeedOptions): Promise<SteadyFeed> {
    const client = createKafkaClient(options.kafka, { retries: 0, requestTimeoutMs: 60_000 });
    // A retried request could arrive twice and change the expected sums.
    const producer = client.producer({ allowAutoTopicCreation: false, retry: { retries: 0 } });
    await producer.connect();
    return new SteadyFeed(options, producer);
  }

  /** Events in the topic. */
  get events(): number {
    return this.#sent * this.#options.eventsPerMessage;
  }

  /** Events a second, over all the time so far. */
  get perSecond(): number {
    return (this.events * 1000) / ((this.#endedMs ?? performance.now()) - this.#startedMs);
  }

  /** Expected contents of the tables when all published events are stored. */
  truth(): StageSums {
    return this.#pool.truthAfter(this.#sent);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    try {
      await this.done;
    } finally {
      await this.#producer.disconnect().catch(() => undefined);
    }
  }

  async #run(): Promise<void> {
    const { kafka, eventsPerSecond, eventsPerMessage, partitions } = this.#options;
    const topic = kafka.topics[0] as string;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const seconds = (performance.now() - this.#startedMs) / 1000;
      const due = Math.floor((seconds * eventsPerSecond) / eventsPerMessage) - this.#sent;
      const count = Math.min(due, this.#pool.size);
      const nowMs = Date.now();
      const messages = Array.from({ length: Math.max(0, count) }, (_, n) => ({
        value: this.#pool.message(this.#sent + n, nowMs),
        partition: (this.#sent + n) % partitions,
      }));
      if (messages.length > 0) {
        await this.#producer.send({ topic, acks: -1, messages });
        for (const { partition } of messages)
          this.ends[partition] = (this.ends[partition] ?? 0) + 1;
        this.#sent += messages.length;
      }
      if (due < this.#pool.size) await sleep(sliceMs, undefined, { signal }).catch(() => undefined);
    }
    this.#endedMs = performance.now();
  }
}
