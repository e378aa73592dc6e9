import { type Patchable, patchOnce } from './patch-once.ts';

/** As much of kafkajs' `Runner` as is needed; src/consumer/runner.js there. */
interface Runner {
  readonly running: boolean;
  readonly fetchManager: { getFetchers(): readonly { stop(): Promise<void> }[] };
  fetch(nodeId: string): Promise<unknown[]>;
}

/**
 * Has fetch loops end with the consumer. When a broker comes or goes at the moment at which a
 * consumer is stopped, kafkajs 2.2.4 begins new loops for the brokers that are left; as the consumer
 * does not run any more each round comes back at once with nothing, for ever and without giving the
 * event loop a turn: no timer fires and no signal is handled (fetchManager.js, `start`; runner.js,
 * `fetch`). Here the first such round ends the loops.
 */
export function endFetchLoops(runner: Patchable<Runner>): void {
  patchOnce(runner, 'endFetchLoops', ['fetch'], ({ fetch }) => ({
    fetch(this: Runner, nodeId: string) {
      if (!this.running) for (const fetcher of this.fetchManager.getFetchers()) void fetcher.stop();
      return fetch.call(this, nodeId);
    },
  }));
}
