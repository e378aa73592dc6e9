import { parseArgs } from 'node:util';
import { runOrders } from '../run-orders.ts';
import { firstSeed } from '../seed-ranges.ts';
import { renderKinds } from './render-kinds.ts';
import type { KindsOrder, KindsOutcome } from './run-kinds.ts';

// npm run eval -- kinds [--seeds tuning|reporting] [--from N] [--count N] [--calm N] [--days N] [--jobs N]
// [--verbose], run by ../run.js: all faults of a fleet, with the events that a user would get.

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: 'tuning' },
    /** The first of these seeds. */
    from: { type: 'string', default: '1' },
    /** Fleets. */
    count: { type: 'string', default: '4' },
    /** Fleets without faults, and their days. */
    calm: { type: 'string', default: '0' },
    days: { type: 'string', default: '7' },
    jobs: { type: 'string', default: '2' },
    verbose: { type: 'boolean', default: false },
  },
});
const first = firstSeed(values.seeds, values.from);
const seedsOf = (count: string) => Array.from({ length: Number(count) }, (_, n) => first + n);
const orders: KindsOrder[] = [
  ...seedsOf(values.count).map((seed) => ({ seed })),
  ...seedsOf(values.calm).map((seed) => ({ seed, calmDays: Number(values.days) })),
];
const worker = new URL('./worker.js', import.meta.url);
const runs = await runOrders<KindsOrder, KindsOutcome>(worker, orders, {
  threads: Number(values.jobs),
  onOutcome: ({ seed, outcomes, falsePages }) => {
    if (!values.verbose) return;
    for (const { name, emitted, ...outcome } of outcomes) {
      process.stderr.write(`${seed} ${name}: ${JSON.stringify(outcome)}\n`);
      for (const text of emitted) process.stderr.write(`    ${text}\n`);
    }
    for (const text of falsePages) process.stderr.write(`${seed} false: ${text}\n`);
  },
});
process.stdout.write(renderKinds(runs));
