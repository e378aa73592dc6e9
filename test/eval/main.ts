import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { evaluate } from './evaluation.ts';
import { learningDays, type SeriesOrder, type SeriesOutcome } from './judge-series.ts';
import { nullFamilies } from './null-families.ts';
import { renderEvaluation } from './render-evaluation.ts';
import { runOrders } from './run-orders.ts';
import { sayingOf } from './say-outcome.ts';
import { firstSeed } from './seed-ranges.ts';

// Run by run.js.

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: 'tuning' },
    /** The first of them, from 1 on. */
    from: { type: 'string', default: '1' },
    /** Weeks of each family without faults. */
    weeks: { type: 'string', default: '4' },
    /** Series of each family with faults, three days each. */
    faulty: { type: 'string', default: '2' },
    family: { type: 'string', multiple: true },
    json: { type: 'boolean', default: false },
    jobs: { type: 'string', default: `${availableParallelism()}` },
    verbose: { type: 'boolean', default: false },
    keep: { type: 'string' },
  },
});
const first = firstSeed(values.seeds, values.from);
const names = nullFamilies
  .map(({ name }) => name)
  .filter((name) => values.family?.includes(name) ?? true);
const seedsOf = (count: number) => Array.from({ length: count }, (_, i) => first + i);
const orders: SeriesOrder[] = [
  ...seedsOf(Number(values.weeks)).flatMap((seed) =>
    names.map((family) => ({ family, seed, days: learningDays + 7 })),
  ),
  ...seedsOf(Number(values.faulty)).flatMap((seed) =>
    names.map((family) => ({ family, seed, days: 4, faultsFromDay: 1 })),
  ),
];
const worker = new URL('./worker.js', import.meta.url);
const outcomes = await runOrders<SeriesOrder, SeriesOutcome>(worker, orders, {
  threads: Number(values.jobs),
  onOutcome: values.verbose ? sayingOf(orders.length) : undefined,
  keepIn: values.keep,
});
const evaluation = evaluate(outcomes);
process.stdout.write(
  values.json ? `${JSON.stringify(evaluation, null, 2)}\n` : renderEvaluation(evaluation),
);
