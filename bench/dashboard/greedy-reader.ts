import { setMaxListeners } from 'node:events';
import { Agent } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
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
const mostModels = 2_000;
let n = 0;
await Promise.all(
  Array.from({ length: atOnce }, async () => {
    while (!leaving.signal.aborted) {
      // Ranges widen to whole steps of an hour; another limit is another answer, which costs the same.
      const question = `/v1/models?from=-${24 + round}h&limit=${mostModels - (n++ % mostModels)}`;
      await ask(url + question, address, agent, asked, leaving.signal);
    }
  }),
);
agent.destroy();
parentPort?.postMessage(asked.byStatus);
