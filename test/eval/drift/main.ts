import { parseArgs } from 'node:util';
import { nullFamilies } from '../null-families.ts';
import { runOrders } from '../run-orders.ts';
import { firstSeed } from '../seed-ranges.ts';
import { calm, driftCases } from './drift-cases.ts';
import { renderDrift } from './render-drift.ts';
import type { DriftOrder, DriftOutcome } from './run-drift.ts';

// npm run eval -- drift [--seeds tuning|reporting] [--from N] [--count N] [--days N] [--jobs N] [--verbose],
// run by ../run.js: gradual slowdowns over days, in traffic of every family.

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: 'tuning' },
    /** The first of them, from 1 on. */
    from: { type: 'string', default: '1' },
    /** Series of each family without a change, and as many with one. */
    count: { type: 'string', default: '1' },
    days: { type: 'string', default: '22' },
    jobs: { type: 'string', default: '2' },
    verbose: { type: 'boolean', default: false },
  },
});
const first = firstSeed(values.seeds, values.from);
const days = Number(values.days);
const orders = Array.from({ length: Number(values.count) }, (_, n) => n).flatMap((n) =>
  nullFamilies.flatMap(({ name: family }, i): DriftOrder[] => {
    const drift = driftCases[(i + n) % driftCases.length] ?? calm;
    const order = { family, seed: first + n, days };
    return [
      { ...order, name: calm.name },
      { ...order, name: drift.name },
    ];
  }),
);
const worker = new URL('./worker.js', import.meta.url);
const outcomes = await runOrders<DriftOrder, DriftOutcome>(worker, orders, {
  threads: Number(values.jobs),
  onOutcome: (outcome) => {
    if (values.verbose) process.stderr.write(`${JSON.stringify(outcome)}\n`);
  },
});
process.stdout.write(renderDrift(outcomes));
