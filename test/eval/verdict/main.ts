import { parseArgs } from 'node:util';
import { firstSeed } from '../seed-ranges.ts';
import { DurationTable } from './duration-law.ts';
import { verdictHeader, verdictRow } from './render-verdict.ts';
import { runVerdict } from './run-verdict.ts';
import { verdictCases } from './verdict-cases.ts';

// npm run eval -- verdict [--seeds tuning|reporting] [--from N] [--count N] [--case TEXT …], by ../run.js:
// two versions of a model, and a verdict that is asked after every minute of an hour. Prints each row.

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: 'tuning' },
    from: { type: 'string', default: '1' },
    /** Pairs of versions of each case. */
    count: { type: 'string', default: '500' },
    /** Texts of the rows wanted: of the durations, the variation or the candidate. */
    case: { type: 'string', multiple: true, default: [] },
    verbose: { type: 'boolean', default: false },
  },
});
const first = firstSeed(values.seeds, values.from);
process.stdout.write(verdictHeader);
for (const each of verdictCases) {
  const text = `${each.law.name}, ${each.variation.name}, ${each.change.name}, ${each.rates}`;
  if (!values.case.every((wanted) => text.includes(wanted))) continue;
  const table = new DurationTable(each.law);
  const pairs = Math.ceil(Number(values.count) * (each.part ?? 1));
  const startedMs = performance.now();
  const outcomes = Array.from({ length: pairs }, (_, i) => runVerdict(each, table, first + i));
  process.stdout.write(verdictRow(each, outcomes));
  if (values.verbose) {
    process.stderr.write(`${text}: ${Math.round(performance.now() - startedMs)} ms\n`);
  }
}
