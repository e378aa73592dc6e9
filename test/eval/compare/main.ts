import { parseArgs } from 'node:util';
import type { ComparedMinute } from '../../../src/compare/compared-minute.ts';
import type { Comparison } from '../../../src/compare/comparison.ts';
import { compareVersions } from '../../../src/compare/verdict/compare-versions.ts';
import { Random } from '../../../src/generate/random.ts';
import { firstSeed } from '../seed-ranges.ts';
import { DurationTable } from '../verdict/duration-law.ts';
import { PairTraffic } from '../verdict/run-verdict.ts';
import { type CompareCase, compareCases } from './compare-cases.ts';

// npm run eval -- compare [--seeds tuning|reporting] [--from N] [--count N], by ../run.js: two versions,
// or two ranges, compared once. Prints each row.

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: 'tuning' },
    from: { type: 'string', default: '1' },
    /** Pairs of each case. */
    count: { type: 'string', default: '200' },
    verbose: { type: 'boolean', default: false },
  },
});
const first = firstSeed(values.seeds, values.from);
const columns = [
  ...['sides', 'durations', 'minutes vary by', 'requests a minute', 'minutes', 'B', 'pairs'],
  ...['fail', 'pass', 'inconclusive', 'interval of p50 holds', 'of p99'],
];
process.stdout.write(
  `| ${columns.join(' | ')} |\n|---|---|---|---:|---:|---|${'---:|'.repeat(6)}\n`,
);
for (const each of compareCases) {
  const startedMs = performance.now();
  const table = new DurationTable(each.law);
  const compared = Array.from({ length: Number(values.count) }, (_, i) =>
    comparisonOf(each, table, first + i),
  );
  process.stdout.write(rowOf(each, compared));
  if (values.verbose) process.stderr.write(`${Math.round(performance.now() - startedMs)} ms\n`);
}

/** Compares one pair, by a seed. The same seed gives the same comparison. */
function comparisonOf(each: CompareCase, table: DurationTable, seed: number): Comparison {
  const { sides, law, variation, change, rate, minutes } = each;
  const random = new Random(
    `compare ${sides} ${law.name} ${variation.name} ${change.name} ${seed}`,
  );
  const traffic = (part: string) =>
    new PairTraffic({ law, variation, change, rates: [rate, rate] }, table, random.split(part));
  const b = traffic('b');
  // Another time has shocks of its own, at another time of day.
  const a = sides === 'versions' ? b : traffic('a');
  const laterMinutes = sides === 'versions' ? 0 : 120;
  const compared = Array.from({ length: minutes }, (_, minute): ComparedMinute => {
    const { startMs, candidate, baseline } = b.minute(minute + laterMinutes);
    return { startMs, candidate, baseline: a === b ? baseline : a.minute(minute).baseline };
  });
  return compareVersions({ candidate: 'b', baseline: 'a', minutes: compared });
}

function rowOf(each: CompareCase, compared: readonly Comparison[]): string {
  const { sides, law, variation, change, rate, minutes } = each;
  const share = (holds: (one: Comparison) => boolean) =>
    `${((100 * compared.filter(holds).length) / compared.length).toFixed(1)} %`;
  const holding = (q: number) => {
    // Below the slowest part, the sides do not differ.
    const factor = 1 - q <= (change.slowest ?? 1) ? change.factor : 1;
    const found = compared.flatMap(({ quantiles }) => quantiles.filter((one) => one.q === q));
    if (found.every(({ ratio_low }) => ratio_low === null)) return '–';
    return share(({ quantiles }) => {
      const { ratio_low, ratio_high } = quantiles.find((one) => one.q === q) ?? {};
      return (ratio_low ?? 0) <= factor && factor <= (ratio_high ?? Number.POSITIVE_INFINITY);
    });
  };
  const cells = [
    ...[sides, law.name, variation.name, rate, minutes, change.name, compared.length],
    ...(['fail', 'pass', 'inconclusive'] as const).map((verdict) =>
      share((one) => one.verdict === verdict),
    ),
    ...[holding(0.5), holding(0.99)],
  ];
  return `| ${cells.join(' | ')} |\n`;
}
