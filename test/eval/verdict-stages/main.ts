import { parseArgs } from 'node:util';
import { firstSeed } from '../seed-ranges.ts';
import { DurationTable } from '../verdict/duration-law.ts';
import { count, median, percent } from '../verdict/render-verdict.ts';
import { runStages } from './run-stages.ts';
import { stageCases } from './stage-cases.ts';

// npm run eval -- verdict-stages [--seeds tuning|reporting] [--from N] [--count N] [--case TEXT …], by
// ../run.js: two versions of a language model, and a verdict that is asked after every minute of an hour.

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: 'tuning' },
    from: { type: 'string', default: '1' },
    /** Pairs of versions of each case; of some more, or fewer. */
    count: { type: 'string', default: '400' },
    /** Texts of the rows wanted. */
    case: { type: 'string', multiple: true, default: [] },
    verbose: { type: 'boolean', default: false },
  },
});
const first = firstSeed(values.seeds, values.from);
const columns = [
  ...['TTFT', 'minutes vary by', 'requests a minute', 'candidate', 'stages', 'pairs', 'ever fail'],
  ...['by TTFT', 'minutes to fail, median', 'ever pass', 'minutes to pass, median'],
];
process.stdout.write(
  `| ${columns.join(' | ')} |\n|---|---|---:|---|---|${'---:|'.repeat(columns.length - 5)}\n`,
);
for (const each of stageCases) {
  const { law, deviation, change, rates, isTotalAlone = false, goodput, part = 1 } = each;
  const cells = [
    ...[law.name, `σ ${deviation}`, `${rates[0]} of ${rates[0] + rates[1]}`, change.name],
    isTotalAlone ? 'total' : `default${goodput === undefined ? '' : ', goodput'}`,
  ];
  if (!values.case.every((wanted) => cells.join(', ').includes(wanted))) continue;
  const table = new DurationTable(law);
  const pairs = Math.ceil(Number(values.count) * part);
  const startedMs = performance.now();
  const outcomes = Array.from({ length: pairs }, (_, i) => runStages(each, table, first + i));
  const failed = outcomes.map(({ failedAfter }) => failedAfter);
  const passed = outcomes.map(({ passedAfter }) => passedAfter);
  const byFirst = outcomes.filter(({ failedStage }) => failedStage === 'first_token').length;
  const all = [
    ...[...cells, pairs, percent(count(failed), pairs), percent(byFirst, pairs), median(failed)],
    ...[percent(count(passed), pairs), median(passed)],
  ];
  process.stdout.write(`| ${all.join(' | ')} |\n`);
  if (values.verbose) {
    process.stderr.write(`${cells}: ${Math.round(performance.now() - startedMs)} ms\n`);
  }
}
