import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { renderSummary } from './render-summary.ts';
import { runChaos } from './run-chaos.ts';

/**
 * What `npm run chaos` runs once it is built: progress on standard error, the summary on standard
 * output. Exit codes: 0 exactly once, 1 not so, or the run could not be brought to its end.
 */
const { values } = parseArgs({
  options: {
    cycles: { type: 'string', default: '100' },
    events: { type: 'string', default: '10000000' },
    seed: { type: 'string', default: '1' },
  },
});
const say = (line: string) => process.stderr.write(`[chaos] ${line}\n`);
const ending = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => ending.abort(new Error(`${name}: ended before its time`)));
}

/** Keeps the logs of all processes, for whoever looks into what went wrong. */
function keepLogs(logs: readonly { readonly pid: number; readonly text: string }[]): void {
  const dir = mkdtempSync(join(tmpdir(), 'tailmark-chaos-logs-'));
  mkdirSync(dir, { recursive: true });
  for (const { pid, text } of logs) writeFileSync(join(dir, `${pid}.log`), text);
  say(`the logs of ${logs.length} ingesters are in ${dir}`);
}

try {
  const summary = await runChaos({
    seed: values.seed,
    cycles: Number(values.cycles),
    events: Number(values.events),
    eventsPerMessage: 100,
    sessionTimeoutMs: 10_000,
    dir: mkdtempSync(join(tmpdir(), 'tailmark-chaos-')),
    signal: ending.signal,
    say,
    onFailure: keepLogs,
  });
  process.stdout.write(renderSummary(summary));
  process.exitCode = summary.differences.length === 0 && summary.verify.ok ? 0 : 1;
} catch (error) {
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exitCode = 1;
}
