import type { Admin, Producer } from 'kafkajs';
import type { Config } from '../../src/config/schema.ts';
import { benchEvents } from '../../src/generate/bench-events.ts';
import { createKafkaClient } from '../../src/source/kafka-client.ts';
import { poll } from '../e2e/kit/poll.ts';
import { StageTally } from '../e2e/kit/stage-tally.ts';
import type { CountedEvent, StageSums } from '../e2e/kit/truth.ts';

export interface EventFeedOptions {
  readonly kafka: Config['kafka'];
  readonly partitions: number;
  readonly seed: string;
  /** Events in all. */
  readonly events: number;
  readonly eventsPerMessage: number;
  /** Ends the wait for a broker. */
  readonly signal: AbortSignal;
}

/** The events lie in so much time up to the start of the run. */
const spanMs = 600_000;
const seriesCount = 10;
const brokerDeadlineMs = 120_000;

/**
 * Publishes seeded events, and knows exactly what is in the topic: what a broker that died has
 * taken is told by where its partitions end, so nothing is missing there and nothing is twice.
 */
export class EventFeed {
  readonly #topic: string;
  readonly #options: EventFeedOptions;
  readonly #producer: Producer;
  readonly #admin: Admin;
  readonly #messages: Iterator<Buffer, void>;
  readonly #tally = new StageTally();
  /** Messages in each partition. */
  readonly ends: number[];
  #eventCount = 0;
  #messageCount = 0;
  /** Why the last request failed; its messages may have arrived all the same. */
  #failure: string | undefined;

  private constructor(options: EventFeedOptions, producer: Producer, admin: Admin) {
    const { kafka, partitions, seed, events, eventsPerMessage } = options;
    this.#options = options;
    this.#topic = kafka.topics[0] as string;
    this.#producer = producer;
    this.#admin = admin;
    this.ends = new Array<number>(partitions).fill(0);
    this.#messages = benchEvents({
      seed,
      count: events,
      eventsPerMessage,
      startMs: Date.now() - spanMs,
      eventsPerSecond: events / (spanMs / 1000),
      seriesCount,
    });
  }

  static async open(options: EventFeedOptions): Promise<EventFeed> {
    // One attempt a request: whether to repeat it is decided here.
    const client = createKafkaClient(options.kafka, { retries: 0, requestTimeoutMs: 15_000 });
    const producer = client.producer({ allowAutoTopicCreation: false, retry: { retries: 0 } });
    const admin = client.admin();
    await producer.connect();
    await admin.connect();
    return new EventFeed(options, producer, admin);
  }

  /** Events in the topic. */
  get events(): number {
    return this.#eventCount;
  }

  /** What the tables must say when all that was published is stored. */
  truth(): StageSums {
    return this.#tally.sums();
  }

  /** Publishes the next so many messages, dealt to the partitions in turn. */
  async publish(count: number): Promise<void> {
    const hands = this.ends.map((): { value: Buffer }[] => []);
    for (let n = 0; n < count; n++) {
      const next = this.#messages.next();
      if (next.done) break;
      hands[this.#messageCount++ % hands.length]?.push({ value: next.value });
    }
    const sending = () => {
      this.#options.signal.throwIfAborted();
      return this.#send(hands);
    };
    await poll('the broker takes messages', sending, {
      deadlineMs: brokerDeadlineMs,
      seen: () => this.#failure,
    });
  }

  async close(): Promise<void> {
    await this.#producer.disconnect().catch(() => undefined);
    await this.#admin.disconnect().catch(() => undefined);
  }

  /** Sends what is in the hands and empties those that have arrived; true when all have. */
  async #send(hands: { value: Buffer }[][]): Promise<true | undefined> {
    if (this.#failure !== undefined && !(await this.#settle(hands))) return undefined;
    const full = hands.flatMap((hand, partition) => (hand.length > 0 ? [{ hand, partition }] : []));
    const messages = full.flatMap(({ hand, partition }) =>
      hand.map(({ value }) => ({ value, partition })),
    );
    if (messages.length === 0) return true;
    try {
      await this.#producer.send({ topic: this.#topic, acks: -1, messages });
      for (const { hand, partition } of full) this.#arrived(hand, partition);
      return true;
    } catch (error) {
      this.#failure = String(error);
      return undefined;
    }
  }

  /** Empties the hands that have arrived although nobody said so; false while that is unknown. */
  async #settle(hands: { value: Buffer }[][]): Promise<boolean> {
    const ends = await this.#askEnds();
    if (ends === undefined) return false;
    for (const [partition, hand] of hands.entries()) {
      const came = (ends.get(partition) ?? 0) - (this.ends[partition] ?? 0);
      if (came !== 0 && came !== hand.length) {
        throw new Error(`partition ${partition} has ${came} new messages, not ${hand.length}`);
      }
      if (came > 0) this.#arrived(hand, partition);
    }
    this.#failure = undefined;
    return true;
  }

  #arrived(hand: { value: Buffer }[], partition: number): void {
    this.ends[partition] = (this.ends[partition] ?? 0) + hand.length;
    for (const { value } of hand.splice(0)) {
      const lines = value.toString().split('\n');
      this.#eventCount += lines.length;
      for (const line of lines) this.#tally.add(JSON.parse(line) as CountedEvent);
    }
  }

  /** Where the partitions end; undefined while the broker does not say. */
  async #askEnds(): Promise<Map<number, number> | undefined> {
    try {
      const offsets = await this.#admin.fetchTopicOffsets(this.#topic);
      if (offsets.length !== this.#options.partitions) return undefined;
      return new Map(offsets.map(({ partition, high }) => [partition, Number(high)]));
    } catch {
      return undefined;
    }
  }
}
