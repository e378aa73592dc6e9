import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { runOrders } from '../run-orders.ts';
import { firstSeed } from '../seed-ranges.ts';
import { releaseCases } from './release-cases.ts';
import { isRight, renderReleases } from './render-releases.ts';
import type { ReleaseOrder, ReleaseOutcome } from './run-releases.ts';

// npm run eval -- releases [--seeds tuning|reporting] [--from N] [--count N] [--case NAME …], run by
// ../run.js: versions that are slow from their first request, and versions that are not.

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: 'tuning' },
    from: { type: 'string', default: '1' },
    /** Series of each family. */
    count: { type: 'string', default: '8' },
    case: { type: 'string', multiple: true, default: [] },
    jobs: { type: 'string', default: `${availableParallelism()}` },
    verbose: { type: 'boolean', default: false },
  },
});
const families = ['independent', 'diurnal', 'swing of ten minutes', 'shocks', 'heavy tail'];
const first = firstSeed(values.seeds, values.from);
const orders: ReleaseOrder[] = Array.from(
  { length: Number(values.count) },
  (_, i) => first + i,
).flatMap((seed) => families.map((family) => ({ family, seed, cases: values.case })));
const worker = new URL('./worker.js', import.meta.url);
const say = (outcomes: readonly ReleaseOutcome[]) => {
  for (const outcome of values.verbose ? outcomes : []) {
    const each = releaseCases.find(({ name }) => name === outcome.name);
    const verdict = each !== undefined && isRight(each, outcome) ? 'right' : 'WRONG';
    const { family, seed, name, delaySeconds, blamed, pages, summaries } = outcome;
    const text = `${verdict} ${family} ${seed}, ${name}: ${delaySeconds ?? '–'} s, ${blamed ?? '–'}, ${pages} pages`;
    process.stderr.write(`${[text, ...(verdict === 'right' ? [] : summaries)].join('\n  ')}\n`);
  }
};
const outcomes = await runOrders<ReleaseOrder, ReleaseOutcome[]>(worker, orders, {
  threads: Number(values.jobs),
  onOutcome: say,
});
process.stdout.write(renderReleases(outcomes.flat()));
