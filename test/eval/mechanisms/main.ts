import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { learningDays, type SeriesOrder } from '../judge-series.ts';
import { runOrders } from '../run-orders.ts';
import { sayingOf } from '../say-outcome.ts';
import { firstSeed } from '../seed-ranges.ts';
import { mechanisms } from './mechanisms.ts';
import { renderMechanisms } from './render-mechanisms.ts';
import type { MechanismOutcome } from './run-mechanism.ts';

// npm run eval -- mechanisms, run by ../run.js: traffic that follows from how servers work.

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: 'tuning' },
    /** The first of them, from 1 on. */
    from: { type: 'string', default: '1' },
    group: { type: 'string' },
    name: { type: 'string', multiple: true },
    /** Weeks of each mechanism without faults. */
    weeks: { type: 'string', default: '2' },
    /** Series of each mechanism with faults. */
    faulty: { type: 'string', default: '2' },
    jobs: { type: 'string', default: `${availableParallelism()}` },
    verbose: { type: 'boolean', default: false },
    keep: { type: 'string' },
  },
});
/** Days of a series with faults: each kind of fault comes about once. */
const faultyDays = 6;
const first = firstSeed(values.seeds, values.from);
const chosen = mechanisms
  .filter(({ group }) => group === (values.group ?? group))
  .filter(({ name }) => values.name?.includes(name) ?? true);
const seedsOf = (count: number) => Array.from({ length: count }, (_, i) => first + i);
const orders: SeriesOrder[] = [
  ...seedsOf(Number(values.faulty)).flatMap((seed) =>
    chosen.map(({ name }) => ({ family: name, seed, days: faultyDays, faultsFromDay: 1 })),
  ),
  ...seedsOf(Number(values.weeks)).flatMap((seed) =>
    chosen.map(({ name }) => ({ family: name, seed, days: learningDays + 7 })),
  ),
];
const worker = new URL('./worker.js', import.meta.url);
const outcomes = await runOrders<SeriesOrder, MechanismOutcome>(worker, orders, {
  threads: Number(values.jobs),
  onOutcome: values.verbose ? sayingOf(orders.length) : undefined,
  keepIn: values.keep,
});
process.stdout.write(renderMechanisms(outcomes));
