import { Random } from '../random.ts';
import { sourceKey, type TimingEventJson } from '../timing-event-json.ts';
import { generateTraffic, type TrafficOptions } from '../traffic.ts';
import { PublishOrder } from './publish-order.ts';
import type { TimedLine } from './send-paced.ts';

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

/** Events of a group of lines. */
const GROUP_EVENTS = 256;

/** Encodes events as lines to send, in groups. */
export function* timedLines(
  events: Iterable<PublishedEvent>,
): Generator<readonly TimedLine[], void> {
  let group: TimedLine[] = [];
  for (const { dueMs, event } of events) {
    const key = sourceKey(event.model, event.host);
    group.push({ dueMs, key, line: JSON.stringify(event) });
    if (group.length < GROUP_EVENTS) continue;
    yield group;
    group = [];
  }
  yield group;
}

/** Delay of an event from the end of its request to the broker. The values are chosen, not fitted. */
export const publishDelay = {
  /** Network and broker: lognormal. The median of a produce request in one data centre. */
  networkMedianMs: 3,
  networkSigma: 0.7,
  /** A producer's linger: an event waits for its batch, uniform up to this. */
  lingerMs: 100,
  /** A retried send, or a garbage collection in the producer: exponential, for this share of events. */
  retryShare: 0.001,
  retryMeanMs: 400,
  /** Longest delay. */
  mostMs: 5_000,
} as const;

/** Draws the delay of one event, in milliseconds. */
export function drawPublishDelay(random: Random): number {
  const { networkMedianMs, networkSigma, lingerMs, retryShare, retryMeanMs, mostMs } = publishDelay;
  const networkMs = random.lognormal(networkMedianMs, networkSigma);
  const lingeredMs = lingerMs * random.uniform();
  const retriedMs = random.chance(retryShare) ? random.exponential(retryMeanMs) : 0;
  return Math.min(mostMs, networkMs + lingeredMs + retriedMs);
}
