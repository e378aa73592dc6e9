import type { TailRow } from '../../data/answers.ts';
import { isHollow } from '../../format/number.ts';
import type { StepValues } from './paths.ts';
import { type Stepped, type Steps, splitOpen, stepsOf } from './step-grid.ts';

/** A quantile over time. */
export interface FanLine {
  readonly q: number;
  /** Null where there was no request. */
  readonly values: StepValues;
  /** Indices whose value is a lower bound: no line is drawn through it. */
  readonly bounds: readonly number[];
  /** The part up to the first open step. */
  readonly closed: StepValues;
  /** The open steps, with the last closed one to join them. */
  readonly open: StepValues;
  /** Indices with too few requests beyond the quantile. */
  readonly thin: readonly number[];
  /** Indices without a neighbour to draw a line to. */
  readonly lone: readonly number[];
}

/** A tail fan: all arrays have one value a step. */
export interface Fan extends Steps {
  readonly lines: readonly FanLine[];
  readonly baseline: {
    readonly low: StepValues;
    readonly median: StepValues;
    readonly high: StepValues;
  } | null;
}

/** Lays rows of steps out on a time grid; steps that have no row are gaps. Cost: steps × quantiles. */
export function fanOf(answer: Stepped<TailRow>): Fan {
  const { steps, byStep } = stepsOf(answer);
  const { states, requests } = steps;
  const { rows } = answer;
  const quantiles = rows[0]?.quantiles.map(({ q }) => q) ?? [];
  const lines = quantiles.map((q, at) => {
    const values = byStep.map((row) => row?.quantiles[at]?.ms ?? null);
    const isBound = (i: number) => byStep[i]?.quantiles[at]?.at_least === true;
    const known = values.map((ms, i) => (isBound(i) ? null : ms));
    const isValue = (i: number) => (known[i] ?? null) !== null;
    const indices = [...known.keys()].filter(isValue);
    return {
      ...{ q, values, ...splitOpen(known, states) },
      bounds: [...values.keys()].filter(isBound),
      thin: indices.filter((i) => isHollow(q, requests[i] ?? 0)),
      lone: indices.filter((i) => !isValue(i - 1) && !isValue(i + 1)),
    };
  });
  const baselineOf = (key: 'low_ms' | 'median_ms' | 'high_ms') =>
    byStep.map((row) => row?.baseline?.[key] ?? null);
  const baseline = rows.some((row) => row.baseline !== null)
    ? { low: baselineOf('low_ms'), median: baselineOf('median_ms'), high: baselineOf('high_ms') }
    : null;
  return { ...steps, lines, baseline };
}

/** Least and largest value of what is shown, the baseline's included; null where nothing is. */
export function fanExtent(
  { lines, baseline }: Pick<Fan, 'lines' | 'baseline'>,
  hidden: ReadonlySet<number>,
): readonly [number, number] | null {
  const shown = lines.filter(({ q }) => !hidden.has(q)).map(({ values }) => values);
  const all = [...shown, ...(baseline === null ? [] : [baseline.low, baseline.high])].flat();
  const positive = all.filter((value) => value !== null && value > 0) as number[];
  return positive.length === 0 ? null : [Math.min(...positive), Math.max(...positive)];
}
