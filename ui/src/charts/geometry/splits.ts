import type { TailRow } from '../answers.ts';

/** Values of a dimension: those with most requests are shown, the slowest of the others is named. */
export interface ShownSplits {
  readonly shown: readonly TailRow[];
  readonly hidden: number;
  /** Largest of the last quantile among the hidden ones; null where none has one. */
  readonly slowest: {
    readonly row: TailRow;
    readonly q: number;
    readonly ms: number;
  } | null;
}

export function splitsOf(rows: readonly TailRow[], most: number): ShownSplits {
  const bySize = rows.toSorted((x, y) => y.requests - x.requests);
  const hidden = bySize.slice(most);
  let slowest: ShownSplits['slowest'] = null;
  for (const row of hidden) {
    const last = row.quantiles.at(-1);
    if (last === undefined || last.ms === null || last.ms <= (slowest?.ms ?? 0)) continue;
    slowest = { row, q: last.q, ms: last.ms };
  }
  return { shown: bySize.slice(0, most), hidden: hidden.length, slowest };
}
