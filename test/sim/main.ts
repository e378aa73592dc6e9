import { exitCodes } from '../../src/base/exit-codes.ts';
import { OperatorError } from '../../src/base/operator-error.ts';
import { renderBadSeed } from './render-bad-seed.ts';
import { renderSimSummary } from './render-sim-summary.ts';
import { runSeeds } from './run-seeds.ts';
import { type SimCommand, simOptions } from './sim-options.ts';
import { SimSummary } from './sim-summary.ts';

/**
 * Entry of `npm run sim` once it is built: progress on standard error, bad seeds and the summary on standard
 * output. Exit codes: 0 success, 1 bad seeds or an early end, 64 usage.
 */
const PROGRESS_MS = 10_000;
/** A seed needs a thirtieth of a second. */
const LIMIT_MS = 60_000;
const worker = new URL('./seed-worker.js', import.meta.url);
const say = (line: string) => process.stderr.write(`[sim] ${line}\n`);
const print = (text: string) => process.stdout.write(text);
const ending = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => ending.abort(new Error(`${name}: ended before its time`)));
}

/** Prints every event of one seed, then its problems. */
async function replay({ from }: SimCommand): Promise<boolean> {
  let isGood = false;
  await runSeeds({
    from,
    to: from,
    jobs: 1,
    worker,
    limitMs: LIMIT_MS,
    signal: ending.signal,
    onTrace: (line) => print(`${line}\n`),
    onReport: ({ problems, eventCount, fingerprint }) => {
      isGood = problems.length === 0;
      for (const problem of problems) print(`PROBLEM ${problem}\n`);
      print(
        `seed ${from}: ${problems.length} problems, ${eventCount} events, run ${fingerprint}\n`,
      );
    },
  });
  return isGood;
}

/** Runs many seeds: prints the bad ones at once, the summary at the end. */
async function runMany({ from, to, jobs, isJson }: SimCommand): Promise<boolean> {
  const summary = new SimSummary();
  const beganMs = performance.now();
  const elapsedMs = () => performance.now() - beganMs;
  const progress = setInterval(() => {
    const { seedCount, failed } = summary;
    const leftMs = (elapsedMs() / Math.max(1, seedCount)) * (to - from + 1 - seedCount);
    const left = `about ${Math.ceil(leftMs / 1000)} s to go`;
    say(`${seedCount} of ${to - from + 1} seeds, ${failed.length} bad, ${left}`);
  }, PROGRESS_MS);
  try {
    await runSeeds({
      from,
      to,
      jobs,
      worker,
      limitMs: LIMIT_MS,
      signal: ending.signal,
      onReport: (report) => {
        summary.add(report);
        if (report.problems.length === 0) return;
        (isJson ? process.stderr : process.stdout).write(`${renderBadSeed(report)}\n`);
      },
    });
  } finally {
    clearInterval(progress);
  }
  const { user, system } = process.cpuUsage();
  const cost = { wallMs: elapsedMs(), cpuMs: (user + system) / 1000, jobs };
  if (isJson) {
    const faults = Object.fromEntries(summary.faults);
    print(`${JSON.stringify({ ...summary, faults, ...cost })}\n`);
  } else print(renderSimSummary(summary, cost));
  return summary.failed.length === 0;
}

try {
  const command = simOptions(process.argv.slice(2));
  const isGood = await (command.isReplay ? replay(command) : runMany(command));
  if (ending.signal.aborted) say(String(ending.signal.reason));
  process.exitCode = isGood && !ending.signal.aborted ? exitCodes.ok : exitCodes.failed;
} catch (error) {
  if (!(error instanceof OperatorError)) throw error;
  say(`${error.message}. ${error.hint ?? ''}`);
  process.exitCode = error.exitCode;
}
