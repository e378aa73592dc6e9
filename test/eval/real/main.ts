import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseDuration } from '../../../src/config/duration.ts';
import { type Config, configSchema } from '../../../src/config/schema.ts';
import { Random } from '../../../src/generate/random.ts';
import { pagesPerWeek } from '../judge-series.ts';
import { poissonUpperBound } from '../poisson-bound.ts';
import { recordedEvents } from './recorded-events.ts';
import { replayEvents } from './replay-events.ts';
import { seenAround } from './seen-around.ts';
import { type Shuffle, shuffledEvents } from './shuffled-events.ts';

// npm run eval -- real --data DIR [--file TEXT] [--times N] [--window 1m …], run by ../run.js: recordings of
// timing events (NDJSON, also gzipped) as they are, and shuffled N times so that they contain no change.
// Prints a table, and below it the requests behind each page of the recording itself.

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    /** Part of the names of files to read. */
    file: { type: 'string', default: '' },
    times: { type: 'string', default: '7' },
    seed: { type: 'string', default: '1' },
    window: { type: 'string', multiple: true, default: ['1m', '10m'] },
  },
});
const { data } = values;
const names =
  data === undefined
    ? []
    : readdirSync(data).filter(
        (name) => name.includes(values.file) && /\.ndjson(\.gz)?$/.test(name),
      );
if (data === undefined || names.length === 0) {
  process.stderr.write(
    'Where are recordings, *.ndjson or *.ndjson.gz? npm run eval -- real --data DIR\n',
  );
  process.exit(64);
}
/** Recordings are sparse, so windows are long; this many make a baseline. */
const baselineWindows = 144;
const configs = values.window.map((window) => {
  const baseline = `${(parseDuration(window) ?? Number.NaN) * baselineWindows}ms`;
  const detect = { window, baseline, page_budget_per_week: pagesPerWeek };
  return [window, configSchema.parse({ detect })] as const;
});
const directory = data;
const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
const number = (n: number) => (Number.isFinite(n) ? Number(n.toPrecision(3)).toString() : '–');
const rows: string[] = [];
const emitted: string[] = [];

function replayOf(name: string, window: string, config: Config, shuffle: Shuffle | undefined) {
  const events = recordedEvents(join(directory, name));
  const random = new Random(`${name} ${values.seed}`);
  const replayed =
    shuffle === undefined ? events : shuffledEvents(events, shuffle, Number(values.times), random);
  const replay = replayEvents(replayed, config);
  const { pages, seriesWeeks } = replay;
  const recording = name.replace(/\.ndjson(\.gz)?$/, '');
  const order = shuffle === undefined ? 'as recorded' : `${shuffle} shuffled`;
  rows.push(
    line([
      ...[recording, order, window, `${replay.events}`, `${replay.series}`, number(seriesWeeks)],
      ...[`${replay.evaluated} of ${replay.seriesWindows}`, `${pages.length}`],
      number((pages.length / seriesWeeks) * 1000),
      number((poissonUpperBound(pages.length) / seriesWeeks) * 1000),
    ]),
  );
  for (const { opened, last } of pages) {
    const until = last.resolved_at ?? 'the end';
    emitted.push(`- ${recording}, ${order}, ${window}: ${opened.started_at} to ${until}`);
    emitted.push(`  ${opened.summary}`);
    if (shuffle !== undefined) continue;
    const { before, during } = seenAround(events, opened);
    const text = ({ requests, ms }: typeof before) => `${number(ms)} ms of ${requests}`;
    emitted.push(
      `  requests: ${text(before)} in the time before, ${text(during)} until it was reported`,
    );
  }
}

for (const name of names) {
  for (const [window, config] of configs) {
    for (const shuffle of [undefined, 'durations', 'blocks'] as const) {
      replayOf(name, window, config, shuffle);
    }
  }
}
const head = [
  ...['recording', 'order', 'window', 'events', 'series evaluated', 'series-weeks'],
  ...['windows evaluated', 'pages', 'per 1,000 series-weeks', 'at most (95 %)'],
];
process.stdout.write(
  [line(head), `|---|---|${'---:|'.repeat(head.length - 2)}`, ...rows, '', ...emitted, ''].join(
    '\n',
  ),
);
