import { Backtest, type Difference, differenceOf } from '../../backtest/backtest.ts';
import { readFileWindows } from '../../backtest/file-windows.ts';
import { exitCodes } from '../../base/exit-codes.ts';
import type { Config } from '../../config/schema.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { detectOptionsOf } from '../../detect/options/detect-options.ts';
import { backfillPast } from '../../roles/detect/backfill.ts';
import { AnomalyStore } from '../../sink/anomalies/anomaly-store.ts';
import { explainedEvent } from '../../sink/anomalies/read-drivers.ts';
import { eachBlock } from '../../sink/windows/each-window.ts';
import type { Command } from '../command.ts';
import { type TimeRange, timeRange } from '../flag-values.ts';
import type { Io } from '../io.ts';
import { clickHouseFlags, loadSettings } from '../load.ts';
import { colorsOf } from '../text/colors.ts';
import { createProgress } from '../text/progress.ts';
import { withClickHouse } from '../with-clickhouse.ts';
import { anomalyText } from './anomalies.ts';

/** Most anomalies of a range that are compared. */
const MOST_STORED = 10_000;

/** Result of a backtest, and its differences from the emitted anomalies, if any. */
interface Outcome {
  readonly backtest: Backtest;
  readonly anomalies: readonly AnomalyEvent[];
  readonly difference: Difference | undefined;
  /** Events of a file that were not counted. */
  readonly notCounted: number;
}

export const backtest: Command = {
  flags: clickHouseFlags,
  help: `
Examples:
  tailmark backtest                                       the last day, as configured now
  tailmark backtest --from 3d --config candidate.yaml     three days, with another configuration
  tailmark backtest --input incident.ndjson.gz --json | jq .summary

Compares the result with the anomalies recorded in that range. The baseline is read from the windows
before --from, as after a restart. A file has no baseline before its first event. Nothing is written,
and no event is emitted.

With --json: the last event of each anomaly, one a line.

Exit codes: 0 no anomaly, 2 at least one anomaly.`,
  configure(command) {
    command
      .option('--from <TIME>', 'start of the range: a duration before now, or RFC 3339', '24h')
      .option('--to <TIME>', 'end of the range', 'now')
      .option('--input <FILE>', 'read recorded events instead: NDJSON, gzipped or not');
  },
  async run(_args, options, io) {
    const { config } = await loadSettings(options, io);
    const { input } = options;
    const beganMs = performance.now();
    const outcome =
      typeof input === 'string'
        ? await ofFile(config, input, io)
        : await ofTables(
            config,
            timeRange(String(options.from), String(options.to), Date.now(), ['--from', '--to']),
            io,
          );
    const { anomalies } = outcome;
    if (options.json === true) for (const each of anomalies) io.out(`${JSON.stringify(each)}\n`);
    else io.out(rendered(outcome, (performance.now() - beganMs) / 1000, io));
    return anomalies.length > 0 ? exitCodes.found : exitCodes.ok;
  },
};

async function ofFile(config: Config, path: string, io: Io): Promise<Outcome> {
  let explained = (event: AnomalyEvent) => event;
  const backtest = new Backtest(detectOptionsOf(config), (event) => explained(event));
  const progress = createProgress(io, { label: 'Evaluating', total: undefined });
  const file = { path, stdin: io.stdin };
  const { counts } = await readFileWindows(config, file, (complete, windows) => {
    explained = (event) => windows.explained(event);
    // One by one: drivers are known only of the last windows.
    for (const at of complete) backtest.evaluate([at]);
    progress.update(0, `${windows.counts.events.toLocaleString('en-US')} events`);
  });
  progress.finish();
  const { anomalies } = backtest;
  return { backtest, anomalies, difference: undefined, notCounted: counts.rejected + counts.late };
}

function ofTables(config: Config, { fromMs, toMs }: TimeRange, io: Io): Promise<Outcome> {
  const { window: windowMs } = config.detect;
  const floor = (ms: number) => Math.floor(ms / windowMs) * windowMs;
  const range = { fromMs: floor(fromMs), toMs: floor(toMs), windowMs };
  return withClickHouse(config, io, 'read windows of the past', async (client) => {
    const backtest = new Backtest(detectOptionsOf(config));
    const total = (range.toMs - range.fromMs) / windowMs;
    const progress = createProgress(io, { label: 'Evaluating', total });
    const past = {
      ...range,
      fromMs: range.fromMs - backtest.detector.historyMs,
      toMs: range.fromMs,
    };
    await backfillPast(client, backtest.detector, past.fromMs, config.detect, () => undefined);
    for await (const block of eachBlock(client, past)) {
      backtest.detector.warmUp(block.map(({ windows }) => windows));
    }
    for await (const block of eachBlock(client, range)) {
      backtest.evaluate(block);
      progress.update(backtest.counts.windows);
    }
    progress.finish();
    const any = { model: '', state: '', limit: MOST_STORED } as const;
    const since = await new AnomalyStore(client).since(range.fromMs, any);
    // Windows do not show past pipeline events.
    const evaluated = since.filter(({ kind }) => kind !== 'pipeline');
    const then = evaluated.filter(({ started_at }) => Date.parse(started_at) < range.toMs);
    const anomalies: AnomalyEvent[] = [];
    for (const event of backtest.anomalies) {
      anomalies.push(await explainedEvent(client, event, windowMs));
    }
    return {
      ...{ backtest, anomalies, notCounted: 0 },
      difference: differenceOf(then, anomalies),
    };
  });
}

function rendered(outcome: Outcome, seconds: number, io: Io) {
  const { backtest, anomalies, difference, notCounted } = outcome;
  const { bold, dim } = colorsOf(io);
  const { windows, seriesWindows } = backtest.counts;
  const count = (n: number, name: string) =>
    `${n.toLocaleString('en-US')} ${n === 1 ? name : name.endsWith('y') ? `${name.slice(0, -1)}ies` : `${name}s`}`;
  const marked = (event: AnomalyEvent) =>
    difference === undefined || difference.both.includes(event) ? '' : `${bold('new')}  `;
  return [
    ...anomalies.map((event) => `${marked(event)}${anomalyText(event, io)}`),
    ...(difference?.gone ?? []).map((event) => `${bold('gone')}  ${anomalyText(event, io)}`),
    `${bold(count(anomalies.length, 'anomaly'))} in ${count(windows, 'window')} (${count(seriesWindows, 'series window')}, ${seconds.toFixed(1)} s)`,
    ...(difference === undefined
      ? []
      : [
          `${difference.both.length} also detected at the time, ${difference.added.length} new, ${difference.gone.length} no longer detected`,
        ]),
    ...(notCounted === 0
      ? []
      : [dim(`${count(notCounted, 'event')} of the file not counted: rejected or late`)]),
    '',
  ].join('\n');
}
