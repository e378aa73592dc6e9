import { benchEvents } from '../../src/generate/bench-events.ts';
import { StageTally } from '../e2e/kit/stage-tally.ts';
import type { CountedEvent, StageSums } from '../e2e/kit/truth.ts';

export interface MessagePoolOptions {
  readonly seed: string;
  readonly messages: number;
  readonly eventsPerMessage: number;
}

/** Where the time of an event stands in its line, in milliseconds of 13 digits. */
const prefix = '{"ts":';
const digits = 13;

/** Messages that are sent over and over, each time under a new time. */
export class MessagePool {
  readonly #messages: readonly Buffer[];
  /** For each message, where the times of its events begin. */
  readonly #places: readonly (readonly number[])[];

  constructor(options: MessagePoolOptions) {
    const { seed, messages, eventsPerMessage } = options;
    this.#messages = [
      ...benchEvents({ seed, count: messages * eventsPerMessage, eventsPerMessage }),
    ];
    this.#places = this.#messages.map((message) => {
      const places: number[] = [];
      for (let at = message.indexOf(prefix); at >= 0; at = message.indexOf(prefix, at + 1)) {
        places.push(at + prefix.length);
      }
      return places;
    });
  }

  get size(): number {
    return this.#messages.length;
  }

  /** The n-th message of all that are sent; its bytes hold until it is asked for again. */
  message(n: number, nowMs: number): Buffer {
    const index = n % this.#messages.length;
    const message = this.#messages[index] as Buffer;
    const time = String(nowMs).padStart(digits, '0');
    for (const place of this.#places[index] as readonly number[])
      message.write(time, place, 'latin1');
    return message;
  }

  /** What so many messages amount to, sent from the first on, in turn. */
  truthAfter(sent: number): StageSums {
    const rounds = Math.floor(sent / this.size);
    const all = sumsOf(this.#messages);
    const rest = sumsOf(this.#messages.slice(0, sent % this.size));
    return Object.fromEntries(
      Object.entries(all).flatMap(([stage, { requests, sumUs }]) => {
        const more = rest[stage] ?? { requests: 0, sumUs: 0 };
        const sum = {
          requests: requests * rounds + more.requests,
          sumUs: sumUs * rounds + more.sumUs,
        };
        return sum.requests === 0 ? [] : [[stage, sum]];
      }),
    );
  }
}

function sumsOf(messages: readonly Buffer[]): StageSums {
  const tally = new StageTally();
  for (const message of messages) {
    for (const line of message.toString().split('\n')) tally.add(JSON.parse(line) as CountedEvent);
  }
  return tally.sums();
}
