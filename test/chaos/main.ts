import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperatorError } from '../../src/base/operator-error.ts';
import { models } from './calm-feed.ts';
import { type ChaosOptions, chaosOptions } from './chaos-options.ts';
import type { ChaosSummary } from './chaos-summary.ts';
import { isRightOnCluster, renderCluster } from './cluster/render-cluster.ts';
import { runCluster } from './cluster/run-cluster.ts';
import { isRight as isDelivered, renderPages } from './pages/render-pages.ts';
import { runPages } from './pages/run-pages.ts';
import { renderOutage } from './render-outage.ts';
import { renderSummary } from './render-summary.ts';
import { runChaos } from './run-chaos.ts';
import { runOutage } from './run-outage.ts';
import { runSilence } from './run-silence.ts';
import { isRight, renderSilence } from './silence-summary.ts';

/**
 * Entry of `npm run chaos` once it is built: progress on standard error, the summary on standard output. Exit
 * codes: 0 success, 1 a failure, or a run that could not be finished.
 */
const say = (line: string) => process.stderr.write(`[chaos] ${line}\n`);
const ending = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => ending.abort(new Error(`${name}: ended before its time`)));
}

/** Keeps the logs of all processes for a later look at a failure. */
function keepLogs(logs: readonly { readonly pid: number; readonly text: string }[]): void {
  const dir = mkdtempSync(join(tmpdir(), 'tailmark-chaos-logs-'));
  for (const { pid, text } of logs) writeFileSync(join(dir, `${pid}.log`), text);
  say(`the logs of ${logs.length} ingesters are in ${dir}`);
}

/** Runs the options; returns the result, and its page. */
async function run(options: ChaosOptions) {
  const common = {
    seed: options.seed,
    eventsPerMessage: 100,
    dir: mkdtempSync(join(tmpdir(), 'tailmark-chaos-')),
    signal: ending.signal,
    say,
    onFailure: keepLogs,
  };
  if (options.kind === 'outage') {
    const { outageMs, eventsPerSecond } = options;
    const summary = await runOutage({ ...common, outageMs, eventsPerSecond });
    return { isRight: isExact(summary), text: renderOutage(summary) };
  }
  if (options.kind === 'silence') {
    const { rounds, faults, shorter, atOnce } = options;
    const summary = await runSilence({
      ...{ ...common, rounds, faults, shorter, atOnce },
      eventsPerSecond: 5 * models,
    });
    return { isRight: isRight(summary), text: renderSilence(summary) };
  }
  if (options.kind === 'cluster') {
    const { faults, eventsPerSecond } = options;
    const summary = await runCluster({ ...common, faults, eventsPerSecond });
    return { isRight: isRightOnCluster(summary), text: renderCluster(summary) };
  }
  if (options.kind === 'pages') {
    const { anomalies, forMs, kills, takeovers } = options;
    const summary = await runPages({
      ...{ ...common, seed: Number(options.seed), anomalies, forMs, kills, takeovers },
    });
    return { isRight: isDelivered(summary), text: renderPages(summary, anomalies) };
  }
  const { cycles, kinds, events } = options;
  const summary = await runChaos({
    ...{ ...common, cycles, kinds, events },
    partitions: 8,
    sessionTimeoutMs: 10_000,
  });
  return { isRight: isExact(summary), text: renderSummary(summary) };
}

function isExact({ differences, verify }: Pick<ChaosSummary, 'differences' | 'verify'>): boolean {
  return differences.length === 0 && verify.ok;
}

try {
  const outcome = await run(chaosOptions(process.argv.slice(2)));
  process.stdout.write(outcome.text);
  process.exitCode = outcome.isRight ? 0 : 1;
} catch (error) {
  if (error instanceof OperatorError) {
    say(`${error.message}. ${error.hint ?? ''}`);
    process.exitCode = error.exitCode;
  } else {
    const isExpected = ending.signal.aborted || !(error instanceof Error);
    say(isExpected ? String(error) : (error.stack ?? error.message));
    process.exitCode = 1;
  }
}
