import type { PlantedMutant } from './planted-mutant.ts';

const completion = 'src/decode/completion-ms.ts';
const accumulator = 'src/window/chunk-accumulator.ts';
const accumulatorTests = ['test/window/chunk-accumulator.test.ts'];

/** Bugs of when a request counts: when it has ended. */
export const completionMutants: readonly PlantedMutant[] = [
  {
    name: 'counted-when-it-began',
    bug: 'a request counts in the window of its start: the slower it is, the surer it comes after that was judged',
    file: completion,
    find: '(Number.isNaN(totalMs) ? leastMs : totalMs)',
    replace: '(Number.isNaN(totalMs) ? leastMs : 0 * totalMs)',
    tests: accumulatorTests,
  },
  {
    name: 'partial-counted-when-it-began',
    bug: 'an event of some stages counts in the window of its start, those with a total in that of their end',
    file: completion,
    find: '(Number.isNaN(totalMs) ? leastMs : totalMs)',
    replace: '(Number.isNaN(totalMs) ? 0 * leastMs : totalMs)',
    tests: accumulatorTests,
  },
  {
    name: 'late-by-the-start',
    bug: 'a request that ended just now is late, since it began long ago',
    file: accumulator,
    find: 'if (endMs < reachedMs - this.#options.allowedLatenessMs) {',
    replace: 'if (record.tsMs < reachedMs - this.#options.allowedLatenessMs) {',
    tests: accumulatorTests,
  },
  {
    name: 'drivers-by-the-start',
    bug: 'what slow requests have in common is counted in the minute of their start, the windows in that of their end',
    file: accumulator,
    find: 'Math.floor(endMs / 60_000)',
    replace: 'Math.floor(record.tsMs / 60_000)',
    tests: accumulatorTests,
  },
  {
    name: 'recording-by-the-start',
    bug: 'a recording drops slow requests as late: what is handed out is asked by their start',
    file: 'src/backtest/memory-windows.ts',
    find: 'completionMs(event) >= (this.#nextMs || Number.NEGATIVE_INFINITY)',
    replace: 'record.tsMs >= (this.#nextMs || completionMs(record))',
    tests: ['test/backtest/memory-windows.test.ts'],
  },
  {
    name: 'late-share-of-all-time',
    bug: 'the share of late events counts what was late before the span: a warning of the morning stays for hours',
    file: 'src/ingest/late-share.ts',
    find: 'bucket.number <= latest - BUCKETS || bucket.number > latest',
    replace: 'bucket.number < 0 || bucket.number > latest',
    tests: ['test/ingest/late-share.test.ts'],
  },
];
