import { parentPort } from 'node:worker_threads';
import { leftBehind } from './left-behind.ts';
import type { SeedOrder } from './run-seeds.ts';
import type { SeedReport } from './seed-report.ts';
import { simulate } from './simulate.ts';

/**
 * A worker thread that runs the seeds it receives and responds with their reports, after the lines of a
 * trace, as strings. A thrown error ends the thread; the parent knows the seed.
 */
const port = parentPort;
if (port === null) throw new Error('BUG: this runs as a worker thread');

const before = process.getActiveResourcesInfo();
port.on('message', async ({ seed, isTraced }: SeedOrder) => {
  const trace = (line: string) => port.postMessage(line);
  const { problems, ...result } = await simulate(seed, isTraced ? { trace } : {});
  const left = leftBehind(before, process.getActiveResourcesInfo());
  const report: SeedReport = {
    ...result,
    problems: left === '' ? problems : [...problems, `the run leaves real things behind: ${left}`],
  };
  port.postMessage(report);
});
port.postMessage('ready');
