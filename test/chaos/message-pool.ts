import { benchEvents } from '../../bench/traffic/bench-events.ts';
import { StageTally } from '../e2e/kit/stage-tally.ts';
import type { CountedEvent, StageSums } from '../e2e/kit/truth.ts';

export interface MessagePoolOptions {
  readonly seed: string;
  readonly messages: number;
  readonly eventsPerMessage: number;
}

/** Prefix of an event's time in its line, milliseconds of 13 digits. */
const prefix = '{"ts":';
const digits = 13;

/** An event in its message: position of its time, and duration of its request. */
interface Place {
  readonly at: number;
  readonly totalMs: number;
}

/** Messages that are sent over and over, each time as if their requests had just ended. */
export class MessagePool {
  readonly #messages: readonly Buffer[];
  /** For each message, its events. */
  readonly #places: readonly (readonly Place[])[];

  constructor(options: MessagePoolOptions) {
    const { seed, messages, eventsPerMessage } = options;
    this.#messages = [
      ...benchEvents({ seed, count: messages * eventsPerMessage, eventsPerMessage }),
    ];
    this.#places = this.#messages.map((message) => {
      const places: Place[] = [];
      let at = 0;
      for (const line of message.toString('latin1').split('\n')) {
        const { total_ms: totalMs } = JSON.parse(line) as { readonly total_ms: number };
        places.push({ at: at + line.indexOf(prefix) + prefix.length, totalMs });
        at += line.length + 1;
      }
      return places;
    });
  }

  get size(): number {
    return this.#messages.length;
  }

  /** Returns the n-th message of all that are sent; its bytes hold until it is requested again. */
  message(n: number, nowMs: number): Buffer {
    const index = n % this.#messages.length;
    const message = this.#messages[index] as Buffer;
    for (const { at, totalMs } of this.#places[index] as readonly Place[]) {
      const startMs = Math.floor(nowMs - totalMs);
      message.write(String(startMs).padStart(digits, '0'), at, 'latin1');
    }
    return message;
  }

  /** Sums of so many messages, sent from the first on, in turn. */
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
