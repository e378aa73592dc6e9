import type { Range, TailRow, WindowState, Windows } from '../../data/answers.ts';
import { isHollow } from '../../format/number.ts';
import { notStoredOf, rowsByStep, statesOf, stepGridOf, type TimeSpan } from './step-grid.ts';

/** A quantile over time. */
export interface FanLine {
  readonly q: number;
  /** Null where there was no request. */
  readonly values: readonly (number | null)[];
  /** The part up to the first open step. */
  readonly closed: readonly (number | null)[];
  /** The open steps, with the last closed one to join them. */
  readonly open: readonly (number | null)[];
  /** Indices with too few requests beyond the quantile. */
  readonly thin: readonly number[];
  /** Indices without a neighbour to draw a line to. */
  readonly lone: readonly number[];
}

/** A tail fan: all arrays have one value a step, `times` are the starts of the steps. */
export interface Fan {
  readonly times: readonly number[];
  readonly stepMs: number;
  readonly states: readonly WindowState[];
  readonly requests: readonly number[];
  readonly failed: readonly number[];
  readonly lines: readonly FanLine[];
  readonly baseline: {
    readonly low: readonly (number | null)[];
    readonly median: readonly (number | null)[];
    readonly high: readonly (number | null)[];
  } | null;
  /** Time of which nothing is stored yet. */
  readonly notStored: TimeSpan | null;
}

/** Lays rows of steps out on a time grid; steps that have no row are gaps. Cost: steps × quantiles. */
export function fanOf(rows: readonly TailRow[], range: Range, windows: Windows): Fan {
  const steps = stepGridOf(range);
  const grid = rowsByStep(rows, steps);
  const states = statesOf(grid, windows);
  const requests = grid.map((row) => row?.requests ?? 0);
  const firstOpen = states.indexOf('open');
  const quantiles = rows[0]?.quantiles.map(({ q }) => q) ?? [];
  const lines = quantiles.map((q, at) => {
    const values = grid.map((row) => row?.quantiles[at]?.ms ?? null);
    return lineOf(q, values, requests, firstOpen === -1 ? grid.length : firstOpen);
  });
  const hasBaseline = rows.some(({ baseline }) => baseline !== null);
  const baseline = hasBaseline
    ? {
        low: grid.map((row) => row?.baseline?.low_ms ?? null),
        median: grid.map((row) => row?.baseline?.median_ms ?? null),
        high: grid.map((row) => row?.baseline?.high_ms ?? null),
      }
    : null;
  return {
    times: grid.map((_, i) => steps.fromMs + i * steps.stepMs),
    stepMs: steps.stepMs,
    states,
    requests,
    failed: grid.map((row) => row?.failed ?? 0),
    lines,
    baseline,
    notStored: notStoredOf(states, requests, steps),
  };
}

function lineOf(
  q: number,
  values: readonly (number | null)[],
  requests: readonly number[],
  firstOpen: number,
): FanLine {
  const isValue = (i: number) => (values[i] ?? null) !== null;
  const indices = values.map((_, i) => i).filter(isValue);
  return {
    q,
    values,
    closed: values.map((value, i) => (i < firstOpen ? value : null)),
    open: values.map((value, i) =>
      i >= firstOpen - 1 && firstOpen < values.length ? value : null,
    ),
    thin: indices.filter((i) => isHollow(q, requests[i] ?? 0)),
    lone: indices.filter((i) => !isValue(i - 1) && !isValue(i + 1)),
  };
}

/** Least and largest value of what is shown, the baseline's included; null where nothing is. */
export function fanExtent(
  { lines, baseline }: Pick<Fan, 'lines' | 'baseline'>,
  hidden: ReadonlySet<number>,
): readonly [number, number] | null {
  const all = [
    ...lines.filter(({ q }) => !hidden.has(q)).map(({ values }) => values),
    ...(baseline === null ? [] : [baseline.low, baseline.high]),
  ];
  let low = Number.POSITIVE_INFINITY;
  let high = 0;
  for (const values of all) {
    for (const value of values) {
      if (value === null || value <= 0) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return high === 0 ? null : [low, high];
}
