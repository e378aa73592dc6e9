import { TDigest as NpmDigest } from 'tdigest';
import { TDigest } from '../src/sketch/t-digest.ts';
import { weyl32 } from '../test/base/seeded-random.ts';
import { clickhouseMerge } from '../test/sketch/clickhouse-merge.ts';
import { distributionNames, drawDistribution } from '../test/sketch/distributions.ts';
import { poolDigest } from '../test/sketch/pool-digest.ts';
import { type WorstError, worstError } from '../test/sketch/worst-error.ts';

// Writes the tables of docs/explained/accuracy.md, which says how to run it, to standard output: the same
// numbers at every run.

const seeds = [1, 2, 3];
const missSeeds = 50;
const missCounts = [60, 100, 200, 1_000, 5_000, 20_000] as const;
const fewStates = [2, 3, 6, 10] as const;
const fewSeeds = 20;
const valuesOfFew = 10_000;

/** The npm digest at its defaults, its shuffling seeded; merging pushes centroids as weighted points. */
function npmDigest(values: Float64Array, parts: number): NpmDigest {
  const whole = new NpmDigest();
  if (parts === 1) {
    for (const value of values) whole.push(value);
  } else {
    const size = values.length / parts;
    for (let i = 0; i < parts; i++) {
      const part = new NpmDigest();
      for (const value of values.subarray(i * size, (i + 1) * size)) part.push(value);
      whole.push_centroid(part.toArray());
    }
  }
  whole.compress();
  return whole;
}

function percent(part: number): string {
  return `${(100 * part).toFixed(2)} %`;
}

function worstOf(errors: readonly WorstError[]): WorstError {
  return {
    value: Math.max(...errors.map(({ value }) => value)),
    stored: Math.max(...errors.map(({ stored }) => stored)),
    rank: Math.max(...errors.map(({ rank }) => rank)),
    score: Math.max(...errors.map(({ score }) => score)),
  };
}

function cells(errors: readonly WorstError[], sizes: readonly number[]): string {
  const { value, stored, rank, score } = worstOf(errors);
  const shares = [stored, value, rank].map(percent).join(' | ');
  return `${Math.max(...sizes)} | ${shares} | ${score.toFixed(2)}`;
}

function header(names: readonly string[]): string {
  const titles = names
    .map((name) => ` ${name}: centroids | stored | value | rank | score |`)
    .join('');
  return `| distribution |${titles}\n|---|${'---:|'.repeat(5 * names.length)}`;
}

function singleRow(name: string, count: number): string {
  const ours: WorstError[] = [];
  const npm: WorstError[] = [];
  const [ourSizes, npmSizes]: [number[], number[]] = [[], []];
  for (const seed of seeds) {
    const values = drawDistribution(name, count, seed);
    const digest = poolDigest(values);
    const peer = npmDigest(values, 1);
    values.sort();
    ours.push(worstError(values, (q) => digest.quantile(q)));
    npm.push(worstError(values, (q) => peer.percentile(q) ?? Number.NaN));
    ourSizes.push(digest.size);
    npmSizes.push(peer.size());
  }
  return `| ${name} | ${cells(ours, ourSizes)} | ${cells(npm, npmSizes)} |`;
}

function mergedRow(name: string, count: number, states: number): string {
  const [ours, server, npm]: [WorstError[], WorstError[], WorstError[]] = [[], [], []];
  const [ourSizes, serverSizes, npmSizes]: [number[], number[], number[]] = [[], [], []];
  const size = count / states;
  for (const seed of seeds) {
    const values = drawDistribution(name, count, seed);
    const parts = Array.from({ length: states }, (_, i) =>
      poolDigest(values.subarray(i * size, (i + 1) * size), 1 - ((i * 0.618034) % 1)),
    );
    const merged = TDigest.merge(parts);
    const read = clickhouseMerge(parts);
    const peer = npmDigest(values, states);
    values.sort();
    ours.push(worstError(values, (q) => merged.quantile(q)));
    server.push(worstError(values, (q) => read.quantile(q)));
    npm.push(worstError(values, (q) => peer.percentile(q) ?? Number.NaN));
    ourSizes.push(merged.size);
    serverSizes.push(read.size);
    npmSizes.push(peer.size());
  }
  return `| ${name} | ${cells(ours, ourSizes)} | ${cells(server, serverSizes)} | ${cells(npm, npmSizes)} |`;
}

/** How many of the seeds miss the bound, in one state of `count` values. */
function missesRow(name: string): string {
  const columns = missCounts.map((count) => {
    let [ours, npm] = [0, 0];
    for (let seed = 100; seed < 100 + missSeeds; seed++) {
      const values = drawDistribution(name, count, seed);
      const digest = poolDigest(values);
      const peer = npmDigest(values, 1);
      values.sort();
      // One value in twenty is 5 %, which floating point must not turn into more.
      if (worstError(values, (q) => digest.quantile(q)).score > 1 + 1e-9) ours++;
      if (worstError(values, (q) => peer.percentile(q) ?? Number.NaN).score > 1 + 1e-9) npm++;
    }
    return `${ours} | ${npm}`;
  });
  return `| ${name} | ${columns.join(' | ')} |`;
}

/** How many of the seeds miss the bound after ClickHouse's merge of few states, and the worst score. */
function fewStatesRow(name: string): string {
  const columns = fewStates.map((states) => {
    let [misses, worst] = [0, 0];
    for (let seed = 200; seed < 200 + fewSeeds; seed++) {
      const values = drawDistribution(name, states * valuesOfFew, seed);
      const parts = Array.from({ length: states }, (_, i) =>
        poolDigest(
          values.subarray(i * valuesOfFew, (i + 1) * valuesOfFew),
          1 - ((seed * 0.381966 + i * 0.618034) % 1),
        ),
      );
      const read = clickhouseMerge(parts);
      values.sort();
      const { score } = worstError(values, (q) => read.quantile(q));
      if (score > 1 + 1e-9) misses++;
      worst = Math.max(worst, score);
    }
    return `${misses} | ${worst.toFixed(2)}`;
  });
  return `| ${name} | ${columns.join(' | ')} |`;
}

Math.random = weyl32(99);
const lines: string[] = [];
for (const count of [5_000, 100_000]) {
  lines.push(`### One state of ${count.toLocaleString('en')} values`, '');
  lines.push(header(['tailmark state', 'npm tdigest']));
  for (const name of distributionNames) lines.push(singleRow(name, count));
  lines.push('');
}
for (const [states, each] of [
  [12, 60],
  [1_000, 100],
  [1_000, 1_000],
  [20, 15_000],
] as const) {
  const [many, values] = [states, each].map((n) => n.toLocaleString('en'));
  lines.push(`### ${many} states of ${values} values, merged`, '');
  lines.push(header(['TDigest.merge', "ClickHouse's rule", 'npm tdigest']));
  for (const name of distributionNames) lines.push(mergedRow(name, states * each, states));
  lines.push('');
}
lines.push(`### Misses of the bound in ${missSeeds} seeds`, '');
const titles = missCounts.map((n) => ` ${n.toLocaleString('en')} values: ours | npm |`).join('');
lines.push(`| distribution |${titles}`, `|---|${'---:|'.repeat(2 * missCounts.length)}`);
for (const name of distributionNames) lines.push(missesRow(name));
lines.push('');
lines.push(
  `### Few states of ${valuesOfFew.toLocaleString('en')} values, merged by ClickHouse's rule`,
  '',
);
const fewTitles = fewStates
  .map((n) => ` ${n} states: misses of ${fewSeeds} | worst score |`)
  .join('');
lines.push(`| distribution |${fewTitles}`, `|---|${'---:|'.repeat(2 * fewStates.length)}`);
for (const name of distributionNames) lines.push(fewStatesRow(name));
lines.push('');
process.stdout.write(lines.join('\n'));
