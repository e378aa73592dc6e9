import { setTimeout as sleep } from 'node:timers/promises';
import type { Producer } from 'kafkajs';
import type { Config } from '../../src/config/schema.ts';
import { Random } from '../../src/generate/random.ts';
import { createKafkaClient } from '../../src/kafka/client/kafka-client.ts';

/** Models, with the same traffic each. */
export const models = 5;

export interface CalmFeedOptions {
  readonly kafka: Config['kafka'];
  readonly partitions: number;
  readonly seed: string;
  readonly eventsPerSecond: number;
}

const hosts = 20;
const sliceMs = 100;
const pastBatch = 5_000;

/**
 * Steady traffic of several models, published as requests end. A host keeps to a partition; the last partition
 * has one host alone.
 */
export class CalmFeed {
  /** Delay of the events of the last partition behind their event time. */
  lastPartitionBehindMs = 0;
  /** Factor of `forward` of the slow model, on all hosts but that of the last partition. */
  slowBy = 1;
  slowModel = 0;
  /** Rejects when the contents of the topic are no longer known. */
  readonly done: Promise<void>;
  readonly #options: CalmFeedOptions;
  readonly #producer: Producer;
  readonly #random: Random;
  readonly #stopping = new AbortController();
  #reachedMs = 0;

  private constructor(options: CalmFeedOptions, producer: Producer, started: Promise<void>) {
    this.#options = options;
    this.#producer = producer;
    this.#random = new Random(options.seed);
    this.done = started.then(() => this.#run());
    this.done.catch(() => undefined);
  }

  /** Publishes the past at once; `begin` continues in real time. */
  static async open(options: CalmFeedOptions, pastMs: number) {
    const client = createKafkaClient(options.kafka, { requestTimeoutMs: 60_000 });
    const producer = client.producer({ allowAutoTopicCreation: false, idempotent: true });
    await producer.connect();
    let begin: () => void = () => undefined;
    const feed = new CalmFeed(options, producer, new Promise((resolve) => (begin = resolve)));
    const events = await feed.#publishPast(pastMs);
    return { feed, events, begin };
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#producer.disconnect().catch(() => undefined);
  }

  async #publishPast(pastMs: number): Promise<number> {
    const nowMs = Date.now();
    this.#reachedMs = nowMs;
    const count = Math.floor((pastMs / 1000) * this.#options.eventsPerSecond);
    for (let from = 0; from < count; from += pastBatch) {
      const length = Math.min(pastBatch, count - from);
      const times = Array.from(
        { length },
        (_, n) => nowMs - pastMs + ((from + n) * pastMs) / count,
      );
      await this.#send(times.map((ms) => this.#message(ms)));
    }
    return count;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    // From the end of the past on: events that were due while it was stopped come at once.
    let dueMs = this.#reachedMs;
    while (!signal.aborted) {
      const messages = [];
      for (; dueMs < Date.now(); dueMs += this.#random.exponential(this.#meanGapMs)) {
        messages.push(this.#message(dueMs));
      }
      if (messages.length > 0) await this.#send(messages);
      await sleep(sliceMs, undefined, { signal }).catch(() => undefined);
    }
  }

  get #meanGapMs(): number {
    return 1000 / this.#options.eventsPerSecond;
  }

  async #send(messages: { value: string; partition: number }[]): Promise<void> {
    const topic = this.#options.kafka.topics[0] as string;
    await this.#producer.send({ topic, acks: -1, messages });
  }

  /** A message of a request that ends at this time. */
  #message(endMs: number) {
    const random = this.#random;
    const host = Math.min(hosts - 1, Math.floor(random.uniform() * hosts));
    const last = this.#options.partitions - 1;
    const isAlone = host === hosts - 1;
    const model = Math.floor(random.uniform() * models);
    const slowBy = isAlone || model !== this.slowModel ? 1 : this.slowBy;
    const stages = {
      queue: random.lognormal(3, 0.5),
      forward: random.lognormal(40, 0.35) * slowBy,
      postprocess: random.lognormal(1, 0.3),
    };
    const total = stages.queue + stages.forward + stages.postprocess;
    const event = {
      ts: Math.round(endMs - total - (isAlone ? this.lastPartitionBehindMs : 0)),
      ...{ model: `ranker-${model}`, version: '1', region: 'eu', host: `pod-${host}` },
      total_ms: total,
      stages_ms: stages,
    };
    return { value: JSON.stringify(event), partition: isAlone ? last : host % last };
  }
}
