import {
  checkedQuantiles,
  drawRequests,
  errorsOf,
  fiveLimits,
  kindsOfRequests,
  mergedRows,
  oneLimit,
  type QuantileError,
  rowsOf,
} from '../test/sketch/time-limits.ts';

// Percentiles and bounds of requests that were given up, against the estimator of Kaplan and Meier on raw
// durations: the worst of 16 draws, the same numbers at every run. `subtracted` are rows from before
// migration 0026, `stored` those since.

const draws = 16;
const perRow = new Map([
  [1, 3_000],
  [6, 1_000],
  [360, 100],
]);
const names = checkedQuantiles.map((q) => `p${Number((100 * q).toFixed(1))}`);

const percent = (share: number) => (100 * share).toFixed(1);
const worst = (errors: readonly QuantileError[], of: 'value' | 'rank') =>
  errors.length === 0 ? '' : percent(Math.max(...errors.map((error) => error[of])));

process.stdout.write(`Each cell: error of the value in %, error of the rank in % of the tail where that is over 1 %.

| requests | limits | given up | rows | read | ${names.join(' | ')} | bounds | 10 % off | of other kind |
|---|---:|---:|---:|---|${'---:|'.repeat(names.length + 3)}
`);
for (const kind of kindsOfRequests) {
  for (const limits of [oneLimit, fiveLimits]) {
    for (const share of [0.01, 0.1]) {
      for (const [rows, each] of perRow) {
        const found = { subtracted: [] as QuantileError[][], stored: [] as QuantileError[][] };
        for (let seed = 1; seed <= draws; seed++) {
          const observed = drawRequests({ kind, limits, share, count: rows * each }, seed);
          const parts = rowsOf(observed, rows);
          found.subtracted.push(errorsOf(observed, mergedRows(parts, true)));
          found.stored.push(errorsOf(observed, mergedRows(parts)));
        }
        for (const [read, errors] of Object.entries(found)) {
          const all = errors.flat();
          const cells = checkedQuantiles.map((_, i) => {
            const known = errors.flatMap((of) => of[i] ?? []).filter(({ isBound }) => !isBound);
            return known.length === 0
              ? 'bound'
              : `${worst(known, 'value')}, ${worst(known, 'rank')}`;
          });
          const bounds = worst(
            all.filter(({ isBound }) => isBound),
            'value',
          );
          const off = all.filter(({ value }) => value >= 0.1).length;
          const other = all.filter(({ isOtherKind }) => isOtherKind).length;
          const head = [kind, limits.length, `${percent(share)} %`, rows, read];
          const row = [...head, ...cells, bounds, `${off} of ${all.length}`, other];
          process.stdout.write(`| ${row.join(' | ')} |\n`);
        }
      }
    }
  }
}
