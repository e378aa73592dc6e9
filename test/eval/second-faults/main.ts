import { parseArgs } from 'node:util';
import { runOrders } from '../run-orders.ts';
import { firstSeed } from '../seed-ranges.ts';
import type { PairOrder } from './pair-cases.ts';
import { renderPairs } from './render-pairs.ts';
import type { PairsOutcome } from './run-pairs.ts';

// npm run eval -- second-faults [--seeds tuning|reporting] [--from N] [--count N] [--pairs N] [--jobs N]
// [--keep FILE] [--verbose], run by ../run.js: a second fault at another stage of a series that has one.

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: 'tuning' },
    /** The first of these seeds. */
    from: { type: 'string', default: '1' },
    /** Series, and the pairs of faults of each. */
    count: { type: 'string', default: '20' },
    pairs: { type: 'string', default: '10' },
    jobs: { type: 'string', default: '2' },
    keep: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
});
const first = firstSeed(values.seeds, values.from);
const orders: PairOrder[] = Array.from({ length: Number(values.count) }, (_, n) => ({
  seed: first + n,
  pairCount: Number(values.pairs),
}));
const worker = new URL('./worker.js', import.meta.url);
const outcomes = await runOrders<PairOrder, PairsOutcome>(worker, orders, {
  threads: Number(values.jobs),
  keepIn: values.keep,
  onOutcome: ({ seed, pairs, short }) => {
    if (!values.verbose) return;
    for (const { pages, ...pair } of pairs) {
      process.stderr.write(`${seed} ${JSON.stringify(pair)}\n`);
      for (const page of pages) process.stderr.write(`    ${JSON.stringify(page)}\n`);
    }
    for (const each of short) process.stderr.write(`${seed} ${JSON.stringify(each)}\n`);
  },
});
process.stdout.write(renderPairs(outcomes));
