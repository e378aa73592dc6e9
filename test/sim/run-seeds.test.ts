import { describe, expect, it } from 'vitest';
import { runSeeds } from './run-seeds.ts';
import type { SeedReport } from './seed-report.ts';

/** A thread that runs `body` with each `seed`, and responds unless that prevents it. */
function threadOf(body: string): URL {
  const source = `
    import { parentPort as port } from 'node:worker_threads';
    port.on('message', async ({ seed }) => {
      ${body}
      port.postMessage({ seed, problems: [], eventCount: 1, faults: new Map() });
    });
    port.postMessage('ready');`;
  return new URL(`data:text/javascript,${encodeURIComponent(source)}`);
}

async function reportsOf(worker: URL, limitMs = 60_000): Promise<SeedReport[]> {
  const reports: SeedReport[] = [];
  const onReport = (report: SeedReport) => reports.push(report);
  await runSeeds({ from: 1, to: 5, jobs: 2, worker, limitMs, onReport });
  return reports.sort((a, b) => a.seed - b.seed);
}

/** Problems by seed, where there are any. */
const outcomes = (reports: readonly SeedReport[]) =>
  reports.flatMap(({ seed, problems }) =>
    problems.map((problem) => [seed, problem.split('\n')[0]]),
  );

describe('seeds over threads', () => {
  it('are each run once', async () => {
    const reports = await reportsOf(threadOf(''));
    expect(reports.map(({ seed }) => seed)).toEqual([1, 2, 3, 4, 5]);
    expect(outcomes(reports)).toEqual([]);
  });

  it('that never end, even in an endless loop of microtasks, have failed', async () => {
    const loop = 'if (seed === 2) for (;;) await null; if (seed === 3) for (;;);';
    const reports = await reportsOf(threadOf(loop), 1_000);
    expect(reports).toHaveLength(5);
    expect(outcomes(reports)).toEqual([
      [2, 'the run makes no headway: no end after 1 s'],
      [3, 'the run makes no headway: no end after 1 s'],
    ]);
  });

  it('that throw, or end their thread, have failed, and the others are run', async () => {
    const body = "if (seed === 2) throw new Error('broken'); if (seed === 4) process.exit(3);";
    const reports = await reportsOf(threadOf(body));
    expect(reports).toHaveLength(5);
    expect(outcomes(reports)).toEqual([
      [2, 'the run threw: Error: broken'],
      [4, 'the run ended its thread with 3'],
    ]);
  });

  it('are not run at all by a thread that cannot start', async () => {
    const worker = new URL('data:text/javascript,throw new Error("no start")');
    await expect(reportsOf(worker)).rejects.toThrow('no start');
  });
});
