import type { SeriesOutcome } from './judge-series.ts';

/**
 * Returns what says on stderr how each series ended, as it does.
 *
 * @param all how many there are; those with a kept outcome are not run again
 */
export function sayingOf(all: number): (outcome: SeriesOutcome) => void {
  let ended = 0;
  return ({ family, seed, falsePages, faults }) => {
    ended++;
    process.stderr.write(`${ended}/${all} ${family} ${seed}\n`);
    for (const { window, summary } of falsePages) {
      process.stderr.write(`  false page at window ${window}: ${summary}\n`);
    }
    for (const fault of faults) {
      const { kind, oracleWindows, delayMs, blamed, pages, resolves } = fault;
      const emitted = delayMs === undefined ? 'not reported' : `reported after ${delayMs / 1000} s`;
      const text = `${kind}: oracle ${oracleWindows ?? '–'}, ${emitted}, ${blamed ?? '–'}, ${pages} pages, ${resolves} resolves`;
      process.stderr.write(`  ${text}\n`);
    }
  };
}
