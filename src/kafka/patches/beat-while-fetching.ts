import { type Clock, systemClock } from '../../base/clock.ts';
import { type Patchable, patchOnce } from './patch-once.ts';

/** The used part of kafkajs' `Runner` (src/consumer/runner.js). */
interface Runner {
  readonly heartbeatInterval: number;
  heartbeat(): Promise<void>;
  fetch(nodeId: string): Promise<unknown[]>;
}

/**
 * Sends heartbeats while a fetch is on its way. kafkajs 2.2.4 sends them between fetches (runner.js). Held
 * back by a quota or on a thin link, one may last longer than the session, and the group removes the member. A
 * refused heartbeat ends the fetch, so a rebalance does not wait for it either.
 */
export function beatWhileFetching(
  runner: Patchable<Runner>,
  clock: Pick<Clock, 'sleep'> = systemClock,
): void {
  patchOnce(runner, 'beatWhileFetching', ['fetch'], ({ fetch }) => ({
    async fetch(this: Runner, nodeId: string) {
      const fetched = fetch.call(this, nodeId);
      const isOver = new AbortController();
      const refused = beat(this, clock, isOver.signal);
      try {
        return await Promise.race([fetched, refused]);
      } finally {
        isOver.abort();
        fetched.catch(() => undefined);
      }
    },
  }));
}

/** Rejects when a heartbeat is refused, and never resolves. */
async function beat(
  runner: Runner,
  clock: Pick<Clock, 'sleep'>,
  isOver: AbortSignal,
): Promise<never> {
  for (;;) {
    await clock.sleep(runner.heartbeatInterval, isOver);
    if (isOver.aborted) return new Promise(() => undefined);
    await runner.heartbeat();
  }
}
