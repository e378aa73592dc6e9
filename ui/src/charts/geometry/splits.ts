import type { TailRow, TailsAnswer } from '../../data/answers.ts';
import { formatCount } from '../../format/number.ts';

/** Shown fields of a value. */
export type SplitRow = Pick<TailRow, 'by' | 'requests'> & {
  readonly quantiles: readonly {
    readonly q: number;
    readonly ms: number | null;
    /** True of a lower bound. */
    readonly at_least?: boolean;
  }[];
};

/** Least and largest percentile of all rows, so that their dots compare. */
export function extentOf(rows: readonly Pick<SplitRow, 'quantiles'>[]): readonly [number, number] {
  const values = rows.flatMap(({ quantiles }) => quantiles.flatMap(({ ms }) => (ms ? [ms] : [])));
  return values.length === 0 ? [1, 1000] : [Math.min(...values), Math.max(...values)];
}

/** Values that an answer does not have, as there are too many: those with the fewest requests. */
export type LeftOut = TailsAnswer['left_out'];

/** Values of a dimension: those with most requests are shown, the slowest of the others is named. */
export interface ShownSplits {
  readonly shown: readonly SplitRow[];
  /** Values that the answer has beside the shown ones. */
  readonly hidden: number;
  /** Largest of the last quantile among the hidden ones; null where none has one. */
  readonly slowest: {
    readonly row: SplitRow;
    readonly q: number;
    readonly ms: number;
    readonly isAtLeast: boolean;
  } | null;
}

/** The words on the values that are not shown: how many there are, and how many of them the slowest is one of. */
export function hiddenWords(hidden: number, leftOut: number): readonly [more: string, of: string] {
  const more = `${formatCount(hidden + leftOut)} more with fewer requests`;
  return leftOut === 0
    ? [`${more}, in the table`, 'slowest of them']
    : [
        `${more}, ${formatCount(hidden)} of them in the table`,
        `slowest of these ${formatCount(hidden)}`,
      ];
}

/** @param isOrdered whether the rows that are shown keep their order; by requests otherwise. */
export function splitsOf(rows: readonly SplitRow[], most: number, isOrdered = false): ShownSplits {
  const bySize = rows.toSorted((x, y) => y.requests - x.requests);
  const hidden = bySize.slice(most);
  let slowest: ShownSplits['slowest'] = null;
  for (const row of hidden) {
    const last = row.quantiles.at(-1);
    if (last === undefined || last.ms === null || last.ms <= (slowest?.ms ?? 0)) continue;
    slowest = { row, q: last.q, ms: last.ms, isAtLeast: last.at_least === true };
  }
  const shown = bySize.slice(0, most);
  return {
    shown: isOrdered ? rows.filter((row) => shown.includes(row)) : shown,
    ...{ hidden: hidden.length, slowest },
  };
}
