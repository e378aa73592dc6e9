import { Random } from '../random.ts';
import type { TimingEventJson } from '../timing-event-json.ts';
import { generateTraffic, type TrafficOptions } from '../traffic.ts';
import { drawPublishDelay } from './publish-delay.ts';
import { PublishOrder } from './publish-order.ts';

/** `end`: when the request has ended, as producers do it. `start`: when it starts, without any delay. */
export const publishTimes = ['start', 'end'] as const;

export type PublishTime = (typeof publishTimes)[number];

/** An event and the time at which it is published, in milliseconds since the Unix epoch. */
export interface PublishedEvent {
  readonly startMs: number;
  readonly dueMs: number;
  readonly event: TimingEventJson;
}

/**
 * Yields a fleet's timing events in the order in which they are published, until the end of the traffic.
 * Events that are published after that end are left out. The same options give the same events. Memory holds
 * events that are not published yet, at most `limits.heldEvents`: see `PublishOrder`.
 */
export function* publishedTraffic(
  options: TrafficOptions,
  at: PublishTime = 'end',
): Generator<PublishedEvent, void> {
  const { seed, startMs, durationMs } = options;
  if (at === 'start') {
    for (const event of generateTraffic(options)) {
      yield { startMs: event.ts, dueMs: event.ts, event };
    }
    return;
  }
  const endMs = startMs + durationMs;
  const random = new Random(seed).split('publishing');
  const order = new PublishOrder<PublishedEvent>();
  let n = 0;
  for (const event of generateTraffic(options)) {
    random.seek(n++, 0);
    const dueMs = Math.ceil(event.ts + event.total_ms + drawPublishDelay(random));
    // It is never published, so it is not held.
    if (dueMs >= endMs) continue;
    yield* order.push({ startMs: event.ts, dueMs, event });
  }
  yield* order.drain();
}
