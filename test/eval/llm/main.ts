import { parseArgs } from 'node:util';
import { runOrders } from '../run-orders.ts';
import { firstSeed } from '../seed-ranges.ts';
import { isClassRight, isPartRight, pageText, renderLlm } from './render-llm.ts';
import type { LlmOrder, LlmOutcome } from './run-llm.ts';

// npm run eval -- llm [--seeds tuning|reporting] [--from N] [--count N] [--rate N …] [--past HOURS …]
// [--calm DAYS] [--jobs N] [--keep FILE] [--verbose], run by ../run.js: servers of language models, each with
// five faults; or, with --calm, that many days without one.

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: 'tuning' },
    /** The first of these seeds. */
    from: { type: 'string', default: '1' },
    /** Servers of each rate and past. */
    count: { type: 'string', default: '4' },
    /** Requests a second. */
    rate: { type: 'string', multiple: true, default: ['2', '6', '20'] },
    /** Hours before the first fault. */
    past: { type: 'string', multiple: true, default: ['6', '30'] },
    calm: { type: 'string', default: '0' },
    jobs: { type: 'string', default: '2' },
    keep: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
});
const first = firstSeed(values.seeds, values.from);
const orders: LlmOrder[] = Array.from(
  { length: Number(values.count) },
  (_, n) => first + n,
).flatMap((seed) =>
  values.rate.flatMap((rate) =>
    values.past.map((past) => ({
      ...{ seed, ratePerSecond: Number(rate), pastHours: Number(past) },
      calmDays: Number(values.calm),
    })),
  ),
);
const say = ({ seed, ratePerSecond, pastHours, faults }: LlmOutcome) => {
  if (!values.verbose) return;
  for (const fault of faults) {
    const { kind, factor, isOverLeast, delayMs, pages } = fault;
    const isRight = isPartRight(fault) && isClassRight(fault) && pages.length === 1;
    const found = delayMs === undefined ? 'not found' : `${delayMs / 1000} s`;
    const text = `${seed} ${ratePerSecond}/s ${pastHours} h, ${kind} × ${factor.toFixed(1)}: ${found}`;
    const ok = isOverLeast ? isRight : pages.length <= 1;
    process.stderr.write(`${ok ? 'right' : 'WRONG'} ${text}${isOverLeast ? '' : ' (small)'}\n`);
    if (!ok) for (const page of pages) process.stderr.write(`    ${pageText(page)}\n`);
  }
};
const worker = new URL('./worker.js', import.meta.url);
const outcomes = await runOrders<LlmOrder, LlmOutcome>(worker, orders, {
  ...{ threads: Number(values.jobs), keepIn: values.keep, onOutcome: say },
});
process.stdout.write(renderLlm(outcomes));
