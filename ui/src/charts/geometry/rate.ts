import type { TailRow } from '../../data/answers.ts';
import type { StepValues } from './paths.ts';
import { rowsByStep, type Stepped, type Steps, stepsOf } from './step-grid.ts';

/** The measure: a part of the requests, or the requests of a second. */
export type RateMeasure = 'failed' | 'cold' | 'per_second';

/** A rate over time: all arrays have one value a step. */
export interface RateLine extends Steps {
  readonly measure: RateMeasure;
  /** Failed requests or cold starts; of `per_second` the requests. */
  readonly counts: readonly number[];
  /** Null where a share has no request, and where a count of a second is not complete. */
  readonly values: StepValues;
  /** True if a share is of so few requests that it is drawn hollow. */
  readonly thin: readonly boolean[];
  readonly baseline: number | null;
  /** End of the axis. */
  readonly most: number;
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
  answer: Stepped<TailRow>,
  measure: RateMeasure,
  baseline: number | null,
  cold: readonly TailRow[] = [],
): RateLine {
  const { steps, byStep } = stepsOf(answer);
  const { grid, states, requests } = steps;
  const coldByStep = rowsByStep(cold, grid);
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
    ...{ ...steps, measure, counts, values, baseline },
    thin: requests.map((n) => isShare && n > 0 && n < requestsOfShare),
    most: most === 0 ? least : Math.min(isShare ? 1 : Number.POSITIVE_INFINITY, most * 1.08),
  };
}
