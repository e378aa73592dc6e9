import { benchEvents } from '../../bench/traffic/bench-events.ts';
import { poll } from '../e2e/kit/poll.ts';
import { StageTally } from '../e2e/kit/stage-tally.ts';
import type { CountedEvent, StageSums } from '../e2e/kit/truth.ts';
import type { FeedTopic, PlacedMessage } from './feed-topic.ts';

export interface EventFeedOptions {
  readonly seed: string;
  /** Events in all. */
  readonly events: number;
  readonly eventsPerMessage: number;
  /** The events lie in the ten minutes up to this time. */
  readonly nowMs: number;
  /** Ends the wait for a broker. */
  readonly signal: AbortSignal;
}

const spanMs = 600_000;
const seriesCount = 10;
const brokerDeadlineMs = 120_000;

/**
 * Publishes seeded events, and knows exactly what is in the topic. After the death of a broker, the ends of
 * its partitions show which messages arrived, so none is missing or repeated.
 */
export class EventFeed {
  readonly #topic: FeedTopic;
  readonly #signal: AbortSignal;
  readonly #messages: Iterator<Buffer, void>;
  readonly #tally = new StageTally();
  /** Messages in each partition. */
  readonly ends: number[];
  #eventCount = 0;
  #messageCount = 0;
  /** Error of the last request; its messages may have arrived nevertheless. */
  #failure: string | undefined;

  constructor(topic: FeedTopic, options: EventFeedOptions) {
    const { seed, events, eventsPerMessage, nowMs, signal } = options;
    this.#topic = topic;
    this.#signal = signal;
    this.ends = new Array<number>(topic.partitions).fill(0);
    this.#messages = benchEvents({
      seed,
      count: events,
      eventsPerMessage,
      startMs: nowMs - spanMs,
      eventsPerSecond: events / (spanMs / 1000),
      seriesCount,
    });
  }

  /** Events in the topic. */
  get events(): number {
    return this.#eventCount;
  }

  /** Expected contents of the tables when all published events are stored. */
  truth(): StageSums {
    return this.#tally.sums();
  }

  /** Publishes the next so many messages, to the partitions in turn. */
  async publish(count: number): Promise<void> {
    const hands = this.ends.map((): Buffer[] => []);
    for (let n = 0; n < count; n++) {
      const next = this.#messages.next();
      if (next.done) break;
      hands[this.#messageCount++ % hands.length]?.push(next.value);
    }
    const sending = () => {
      this.#signal.throwIfAborted();
      return this.#send(hands);
    };
    await poll('the broker takes messages', sending, {
      deadlineMs: brokerDeadlineMs,
      seen: () => this.#failure,
    });
  }

  /** Sends the held messages and drops those that have arrived; true when all have. */
  async #send(hands: Buffer[][]): Promise<true | undefined> {
    if (this.#failure !== undefined && !(await this.#settle(hands))) return undefined;
    const messages = hands.flatMap((hand, partition) =>
      hand.map((value): PlacedMessage => ({ value, partition })),
    );
    if (messages.length === 0) return true;
    try {
      await this.#topic.send(messages);
    } catch (error) {
      this.#failure = String(error);
      return undefined;
    }
    for (const [partition, hand] of hands.entries()) this.#arrived(hand, partition);
    return true;
  }

  /** Drops held messages that have arrived without a response; false while that is unknown. */
  async #settle(hands: Buffer[][]): Promise<boolean> {
    const ends = await this.#topic.ends().catch(() => undefined);
    if (ends === undefined) return false;
    for (const [partition, hand] of hands.entries()) {
      const came = (ends[partition] ?? 0) - (this.ends[partition] ?? 0);
      if (came !== 0 && came !== hand.length) {
        throw new Error(`partition ${partition} has ${came} new messages, not ${hand.length}`);
      }
      if (came > 0) this.#arrived(hand, partition);
    }
    this.#failure = undefined;
    return true;
  }

  #arrived(hand: Buffer[], partition: number): void {
    this.ends[partition] = (this.ends[partition] ?? 0) + hand.length;
    for (const message of hand.splice(0)) {
      const lines = message.toString().split('\n');
      this.#eventCount += lines.length;
      for (const line of lines) this.#tally.add(JSON.parse(line) as CountedEvent);
    }
  }
}
