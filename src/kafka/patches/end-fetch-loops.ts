import { type Patchable, patchOnce } from './patch-once.ts';

/** The used part of kafkajs' `Runner` (src/consumer/runner.js). */
interface Runner {
  readonly running: boolean;
  readonly fetchManager: { getFetchers(): readonly { stop(): Promise<void> }[] };
  fetch(nodeId: string): Promise<unknown[]>;
}

/**
 * Ends fetch loops with the consumer. If a broker comes or goes while a consumer stops, kafkajs 2.2.4 starts
 * new loops for the remaining brokers (fetchManager.js, `start`; runner.js, `fetch`). They return at once
 * without yielding to the event loop, so no timer fires and no signal is handled. This patch ends the loops
 * at the first such round.
 */
export function endFetchLoops(runner: Patchable<Runner>): void {
  patchOnce(runner, 'endFetchLoops', ['fetch'], ({ fetch }) => ({
    fetch(this: Runner, nodeId: string) {
      if (!this.running) for (const fetcher of this.fetchManager.getFetchers()) void fetcher.stop();
      return fetch.call(this, nodeId);
    },
  }));
}
