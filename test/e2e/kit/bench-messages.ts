import { benchEvents } from '../../../bench/traffic/bench-events.ts';
import { type CountedEvent, type StageSums, truthOf } from './truth.ts';

export interface BenchMessages {
  readonly messages: readonly Buffer[];
  readonly events: number;
  readonly truth: StageSums;
}

/** Events of eight stages and their total, over a few series and the five minutes up to now. */
export function benchMessages(
  seed: string,
  events: number,
  eventsPerMessage: number,
): BenchMessages {
  const spanMs = 300_000;
  const messages = [
    ...benchEvents({
      seed,
      count: events,
      eventsPerMessage,
      startMs: Date.now() - spanMs,
      eventsPerSecond: events / (spanMs / 1000),
      seriesCount: 4,
    }),
  ];
  return { messages, events, truth: truthOf(eventsIn(messages)) };
}

function* eventsIn(messages: readonly Buffer[]): Generator<CountedEvent> {
  for (const message of messages) {
    for (const line of message.toString().split('\n')) yield JSON.parse(line) as CountedEvent;
  }
}
