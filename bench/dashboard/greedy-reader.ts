import { setMaxListeners } from 'node:events';
import { Agent } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import { hourMs } from '../../src/base/time.ts';
import { ask, nothing } from './ask.ts';

/**
 * A client that has questions of all models under way, none of them asked before, until it is told to leave.
 * It posts how many answers of each status it got.
 */
const { url, address, round, atOnce } = workerData as {
  readonly url: string;
  readonly address: number;
  readonly round: number;
  readonly atOnce: number;
};
const leaving = new AbortController();
setMaxListeners(0, leaving.signal);
parentPort?.once('message', () => leaving.abort());

const asked = nothing();
const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
let n = 0;
await Promise.all(
  Array.from({ length: atOnce }, async () => {
    while (!leaving.signal.aborted) {
      const from = Date.now() - 24 * hourMs - round * hourMs - n++ * 10_000;
      await ask(`${url}/v1/models?from=${from}&to=now`, address, agent, asked, leaving.signal);
    }
  }),
);
agent.destroy();
parentPort?.postMessage(asked.byStatus);
