import type { Range, TailRow, WindowState, Windows } from '../../data/answers.ts';
import { notStoredOf, rowsByStep, statesOf, stepGridOf, type TimeSpan } from './step-grid.ts';

/** The measure: a part of the requests, or the requests of a second. */
export type RateMeasure = 'failed' | 'cold' | 'per_second';

/** A rate over time: all arrays have one value a step. */
export interface RateLine {
  readonly measure: RateMeasure;
  readonly times: readonly number[];
  readonly stepMs: number;
  readonly states: readonly WindowState[];
  readonly requests: readonly number[];
  /** Failed requests or cold starts; of `per_second` the requests. */
  readonly counts: readonly number[];
  /** Null where a share has no request, and where a count of a second is not complete. */
  readonly values: readonly (number | null)[];
  /** True if a share is of so few requests that it is drawn hollow. */
  readonly thin: readonly boolean[];
  readonly baseline: number | null;
  /** End of the axis. */
  readonly most: number;
  readonly notStored: TimeSpan | null;
}

interface Answered {
  readonly rows: readonly TailRow[];
  readonly range: Range;
  readonly windows: Windows;
}

/** Requests below which one more failure moves a share by over one point. */
export const requestsOfShare = 100;
/** End of the axis where nothing was counted. */
const leastMost = { share: 0.01, perSecond: 1 } as const;

/**
 * Lays rows of steps out as a rate.
 *
 * @param cold rows of the cold starts alone, for `cold`.
 */
export function rateLineOf(
  { rows, range, windows }: Answered,
  measure: RateMeasure,
  baseline: number | null,
  cold: readonly TailRow[] = [],
): RateLine {
  const grid = stepGridOf(range);
  const byStep = rowsByStep(rows, grid);
  const coldByStep = rowsByStep(cold, grid);
  const states = statesOf(byStep, windows);
  const requests = byStep.map((row) => row?.requests ?? 0);
  const isShare = measure !== 'per_second';
  const counts = byStep.map((row, i) => {
    if (measure === 'cold') return coldByStep[i]?.requests ?? 0;
    return (measure === 'failed' ? row?.failed : row?.requests) ?? 0;
  });
  const values = counts.map((count, i) => {
    const n = requests[i] ?? 0;
    if (isShare) return n === 0 ? null : Math.min(1, count / n);
    return states[i] === 'open' ? null : count / (grid.stepMs / 1000);
  });
  const most = Math.max(baseline ?? 0, ...values.map((value) => value ?? 0));
  const least = isShare ? leastMost.share : leastMost.perSecond;
  return {
    ...{ measure, stepMs: grid.stepMs, states, requests, counts, values, baseline },
    times: byStep.map((_, i) => grid.fromMs + i * grid.stepMs),
    thin: requests.map((n) => isShare && n > 0 && n < requestsOfShare),
    most: most === 0 ? least : Math.min(isShare ? 1 : Number.POSITIVE_INFINITY, most * 1.08),
    notStored: notStoredOf(states, requests, grid),
  };
}

/** Steps that a line joins without a gap. */
export interface RateRun {
  readonly from: number;
  /** Inclusive. */
  readonly to: number;
  /** Open steps, with the last closed one to join them. */
  readonly isOpen: boolean;
}

export function runsOf({ values, states }: Pick<RateLine, 'values' | 'states'>): RateRun[] {
  const runs: RateRun[] = [];
  for (const [i, value] of values.entries()) {
    if (value === null) continue;
    const isOpen = states[i] === 'open';
    const last = runs.at(-1);
    const isNext = last !== undefined && last.to === i - 1;
    if (isNext && last.isOpen === isOpen) runs[runs.length - 1] = { ...last, to: i };
    else runs.push({ from: isNext && isOpen ? i - 1 : i, to: i, isOpen });
  }
  return runs;
}
