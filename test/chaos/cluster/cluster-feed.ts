import type { Producer } from 'kafkajs';
import { benchEvents } from '../../../bench/traffic/bench-events.ts';
import type { Config } from '../../../src/config/schema.ts';
import { createKafkaClient } from '../../../src/kafka/client/kafka-client.ts';

const BEAT_MS = 100;
const RETRIES = 30;

export interface ClusterFeedOptions {
  readonly kafka: Config['kafka'];
  readonly partitions: number;
  readonly eventsPerSecond: number;
  readonly seed: string;
}

/** Publishes an event a message at a steady rate. What it has asked for goes out once the brokers take it. */
export class ClusterFeed {
  readonly #producer: Producer;
  readonly #options: ClusterFeedOptions;
  readonly #startedMs = Date.now();
  readonly #sends: Promise<unknown>[] = [];
  /** A partition that gets nothing for now. */
  withheld: number | undefined;
  #sent = 0;
  #isStopped = false;
  #loop: Promise<void> = Promise.resolve();

  static async start(options: ClusterFeedOptions): Promise<ClusterFeed> {
    const client = createKafkaClient(options.kafka, { retries: RETRIES });
    const producer = client.producer({ allowAutoTopicCreation: false });
    await producer.connect();
    const feed = new ClusterFeed(producer, options);
    feed.#loop = feed.#publish();
    return feed;
  }

  private constructor(producer: Producer, options: ClusterFeedOptions) {
    this.#producer = producer;
    this.#options = options;
  }

  /** Resolves when all that was asked for is in the topic. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#loop;
    await Promise.allSettled(this.#sends);
    await this.#producer.disconnect();
  }

  async #publish(): Promise<void> {
    const { seed, eventsPerSecond, partitions, kafka } = this.#options;
    const topic = kafka.topics[0] as string;
    const all = Array.from({ length: partitions }, (_, partition) => partition);
    while (!this.#isStopped) {
      const due = Math.floor(((Date.now() - this.#startedMs) * eventsPerSecond) / 1000);
      const count = due - this.#sent;
      if (count > 0) {
        const values = benchEvents({
          ...{ seed: `${seed} ${this.#sent}`, count, eventsPerMessage: 1, seriesCount: 10 },
          ...{ startMs: Date.now() - BEAT_MS, eventsPerSecond: (count * 1000) / BEAT_MS },
        });
        const open = all.filter((partition) => partition !== this.withheld);
        const messages = [...values].map((value, n) => ({
          value,
          partition: open[(this.#sent + n) % open.length] ?? 0,
        }));
        this.#sent += count;
        const send = this.#producer.send({ topic, acks: -1, messages });
        send.catch(() => undefined);
        this.#sends.push(send);
      }
      await new Promise((resolve) => setTimeout(resolve, BEAT_MS));
    }
  }
}
