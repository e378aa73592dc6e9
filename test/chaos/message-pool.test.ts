import { describe, expect, it } from 'vitest';
import { type CountedEvent, truthOf } from '../e2e/kit/truth.ts';
import { MessagePool } from './message-pool.ts';

const pool = () => new MessagePool({ seed: 'pool', messages: 3, eventsPerMessage: 4 });
const nowMs = 1_790_000_000_123;

type Sent = CountedEvent & { readonly ts: number; readonly total_ms: number };

/** Events of the first so many messages as they are sent. */
function sent(count: number): Sent[] {
  const messages = pool();
  return Array.from({ length: count }, (_, n) => messages.message(n, nowMs + n).toString())
    .flatMap((message) => message.split('\n'))
    .map((line) => JSON.parse(line) as Sent);
}

describe('MessagePool', () => {
  it('sends each event as if its request had just ended', () => {
    const ends = sent(5).map(({ ts, total_ms }) => Math.ceil(ts + total_ms) - nowMs);
    expect(ends).toEqual([0, 1, 2, 3, 4].flatMap((n) => [n, n, n, n]));
  });

  it('starts again after the last, with the same events', () => {
    const events = sent(4).map(({ ts: _, ...event }) => event);
    expect(events.slice(12)).toEqual(events.slice(0, 4));
    expect(new Set(events.map((event) => JSON.stringify(event))).size).toBe(12);
  });

  it.each([0, 1, 2, 3, 4, 6, 11])('knows the sums of %d messages', (count) => {
    expect(pool().truthAfter(count)).toEqual(truthOf(sent(count)));
  });
});
