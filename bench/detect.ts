import { parseArgs } from 'node:util';
import { configSchema } from '../src/config/schema.ts';
import { Detector } from '../src/detect/detector.ts';
import { Random } from '../src/generate/random.ts';
import type { Series, SeriesWindow } from '../src/series/series-window.ts';
import { drawWindow } from '../test/eval/draw-window.ts';
import { nullFamilies, windowMs } from '../test/eval/null-families.ts';
import { WindowMaker } from '../test/eval/window-maker.ts';

// npm run bench -- detect [--series N] [--windows N] [--rounds N]: how many windows of a series (three
// stages and the total, each by sketches as they are stored) the detector judges in a second of CPU, with
// every kind of anomaly looked for, when it has many series. Windows are made before; the same ones come
// again and again, each time as if it were later. Rounds take turns: windows one by one, as they come,
// and those of two minutes together, as backtest and a restart read them from tables.

const { values } = parseArgs({
  options: {
    series: { type: 'string', default: '200' },
    windows: { type: 'string', default: '120' },
    rounds: { type: 'string', default: '30' },
  },
});
const [seriesCount, windows, rounds] = [values.series, values.windows, values.rounds].map(
  Number,
) as [number, number, number];
const perModel = 10;
const startMs = Date.UTC(2026, 10, 2);
const byWindow: SeriesWindow[][] = Array.from({ length: windows }, () => []);
const maker = new WindowMaker(windowMs);
for (let n = 0; n < seriesCount; n++) {
  const family = nullFamilies[n % nullFamilies.length];
  if (family === undefined) break;
  const random = new Random(`detect ${n}`);
  const model = family.model(random);
  const draws = random.split('requests');
  // The same object in each window, as windows that are read have it.
  let series: Series | undefined;
  for (let window = 0; window < windows; window++) {
    const moment = model.momentAt(window);
    draws.seek(window, 0);
    const durations = drawWindow(moment, window, undefined, draws);
    const [made] = maker.make(startMs, 'v1', durations);
    if (made === undefined) continue;
    const [name, region] = [`model-${Math.floor(n / perModel)}`, `region-${n % perModel}`];
    series ??= { ...made.series, model: name, region };
    byWindow[window]?.push({ ...made, series });
  }
}

const { detect } = configSchema.parse({});
const detector = new Detector(detect);
const together = 12;
const perSecond = { together: [] as number[], one: [] as number[] };
let emitted = 0;
for (let round = 0; round < rounds; round++) {
  // What carries the time is made before the clock runs.
  const dated = byWindow.map((present, window) => {
    const atMs = startMs + (round * windows + window) * windowMs;
    const made = present.map((each) => ({ ...each, windowStartMs: atMs }));
    return { startMs: atMs, nowMs: atMs + windowMs + 2_000, windows: made };
  });
  const way = round % 2 === 0 ? 'together' : 'one';
  const atOnce = way === 'together' ? together : 1;
  const before = process.cpuUsage();
  for (let n = 0; n < dated.length; n += atOnce) {
    emitted += detector.observeAll(dated.slice(n, n + atOnce)).length;
  }
  const { user, system } = process.cpuUsage(before);
  const evaluated = dated.reduce((sum, { windows }) => sum + windows.length, 0);
  perSecond[way].push((evaluated / (user + system)) * 1e6);
}

const thousands = (n: number | undefined) => `${((n ?? Number.NaN) / 1000).toFixed(1)} k`;
// The first hours are for learning, and for the compiler.
const measuredOf = (all: readonly number[]) => {
  return all.slice(Math.ceil(all.length / 3)).sort((a, b) => a - b);
};
const textOf = (all: readonly number[]) => {
  const measured = measuredOf(all);
  const [least, median, most] = [measured[0], measured[measured.length >> 1], measured.at(-1)];
  return `${thousands(median)} (${thousands(least)}–${thousands(most)})`;
};
const { length } = measuredOf(perSecond.together);
process.stdout.write(
  `${seriesCount} series of three stages and the total, ${length} rounds each of ${windows} windows, ${emitted} events emitted\n` +
    'windows of a series a CPU second, median (least to most)\n' +
    `  ${textOf(perSecond.together)} two minutes of windows together: backtest, restart\n` +
    `  ${textOf(perSecond.one)} one by one: as they come\n`,
);
