import type { Range, TailRow, WindowState, Windows } from '../../data/answers.ts';
import type { StepValues } from './paths.ts';
import {
  notStoredOf,
  rowsByStep,
  type StepGrid,
  statesOf,
  stepGridOf,
  type TimeSpan,
} from './step-grid.ts';

/** The measure: a part of the requests, or the requests of a second. */
export type RateMeasure = 'failed' | 'cold' | 'per_second';

/** A rate over time: all arrays have one value a step. */
export interface RateLine {
  readonly measure: RateMeasure;
  readonly grid: StepGrid;
  readonly states: readonly WindowState[];
  readonly requests: readonly number[];
  /** Failed requests or cold starts; of `per_second` the requests. */
  readonly counts: readonly number[];
  /** Null where a share has no request, and where a count of a second is not complete. */
  readonly values: StepValues;
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
    ...{ measure, grid, states, requests, counts, values, baseline },
    thin: requests.map((n) => isShare && n > 0 && n < requestsOfShare),
    most: most === 0 ? least : Math.min(isShare ? 1 : Number.POSITIVE_INFINITY, most * 1.08),
    notStored: notStoredOf(states, requests, grid),
  };
}
