import { expect, it } from 'vitest';
import { beatWhileFetching } from '../../../src/kafka/patches/beat-while-fetching.ts';
import { handClock } from '../login/hand-clock.ts';

const clock = handClock();
class Runner {
  readonly heartbeatInterval = 1_000;
  heartbeats = 0;
  refusal: Error | undefined;
  readonly responseMs: number;
  constructor(responseMs: number) {
    this.responseMs = responseMs;
  }
  async heartbeat() {
    this.heartbeats++;
    if (this.refusal !== undefined) throw this.refusal;
  }
  async fetch(nodeId: string): Promise<unknown[]> {
    await clock.sleep(this.responseMs);
    return [nodeId];
  }
}
beatWhileFetching(Runner, clock);

function fetched(runner: Runner) {
  const seen: { batches?: unknown; error?: unknown; atMs?: number } = {};
  const beganMs = clock.elapsedMs();
  runner.fetch('n').then(
    (batches) => Object.assign(seen, { batches, atMs: clock.elapsedMs() - beganMs }),
    (error: unknown) => Object.assign(seen, { error, atMs: clock.elapsedMs() - beganMs }),
  );
  return seen;
}

it('sends heartbeats while the response is awaited, and none afterwards', async () => {
  const runner = new Runner(25_500);
  const seen = fetched(runner);
  await clock.pass(60_000);
  expect(seen).toEqual({ batches: ['n'], atMs: 25_500 });
  expect(runner.heartbeats).toBe(25);
});

it('sends none during a fetch of an ordinary length', async () => {
  const runner = new Runner(250);
  fetched(runner);
  await clock.pass(60_000);
  expect(runner.heartbeats).toBe(0);
});

it('ends a fetch with the refusal of a heartbeat, so that the consumer joins again', async () => {
  const runner = new Runner(25_500);
  const seen = fetched(runner);
  await clock.pass(2_500);
  runner.refusal = new Error('REBALANCE_IN_PROGRESS');
  await clock.pass(60_000);
  expect(seen).toEqual({ error: runner.refusal, atMs: 3_000 });
});
