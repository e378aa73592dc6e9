import { Random } from '../random.ts';
import type { TimingEventJson } from '../timing-event-json.ts';
import { generateTraffic, type TrafficOptions } from '../traffic.ts';
import { drawPublishDelay } from './publish-delay.ts';
import { PublishOrder } from './publish-order.ts';

/** `end`: as producers do it, when the request has ended. `start`: when it begins, without any delay. */
export const publishTimes = ['start', 'end'] as const;

export type PublishTime = (typeof publishTimes)[number];

/** An event, and when it is published, in milliseconds since the Unix epoch. */
export interface PublishedEvent {
  readonly startMs: number;
  readonly dueMs: number;
  readonly event: TimingEventJson;
}

/**
 * Timing events of a fleet in the order in which they are published, until the traffic's time is over. A
 * request that has not ended by then, or whose event is still on its way, is not among them. The same options
 * give the same events. Memory holds the events of requests that have begun and are not published yet, at
 * most `limits.heldEvents`: see `PublishOrder`.
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
    // It waits for nothing: its time does not come.
    if (dueMs >= endMs) continue;
    yield* order.push({ startMs: event.ts, dueMs, event });
  }
  yield* order.drain();
}
