import { isHollow } from '../../format/number.ts';
import { linearScale, logScale, type Scale, type Span, tailPosition } from './scale.ts';

/** A quantile of B against A. */
export interface ShiftPoint {
  readonly q: number;
  readonly a_ms: number | null;
  readonly b_ms: number | null;
  readonly ratio: number | null;
  readonly ratio_low: number | null;
  readonly ratio_high: number | null;
}

/** Change from A to B, by an interval: worse or better only where it excludes 1. */
export type Change = 'worse' | 'better' | 'unclear';

export function changeOf({ ratio_low: low, ratio_high: high }: ShiftPoint): Change {
  if (low !== null && low > 1) return 'worse';
  if (high !== null && high < 1) return 'better';
  return 'unclear';
}

export interface ShiftLayout {
  readonly x: Scale;
  readonly y: Scale;
  /** Ratios at the lower and the upper end. */
  readonly ratios: Span;
  readonly points: readonly (ShiftPoint & {
    readonly ratio: number;
    readonly px: number;
    readonly py: number;
    /** True if A or B has too few requests beyond the quantile. */
    readonly isThin: boolean;
  })[];
  /** Outline of the ribbon, clockwise; empty where no point has an interval. */
  readonly ribbon: readonly (readonly [number, number])[];
}

/** Half of the least ratio range: ×1.25, so that noise does not fill the chart. */
const leastReach = Math.log(1.25);
/** Beyond ×16 an interval says only that it is wide. */
const mostReach = Math.log(16);

/**
 * Lays out a shift function: quantiles on a 1−q log axis, ratios on a log axis with 1 inside.
 *
 * @param requests of the smaller side.
 */
export function shiftOf(
  all: readonly ShiftPoint[],
  requests: number,
  width: Span,
  height: Span,
): ShiftLayout {
  const known = all.flatMap((point) =>
    point.ratio === null ? [] : [{ ...point, ratio: point.ratio }],
  );
  const qs = all.map(({ q }) => tailPosition(q));
  const reach = (values: readonly number[], least: number) => {
    const most = Math.max(least, ...values);
    return Math.min(mostReach, most * 1.08);
  };
  const bounds = known.flatMap(({ ratio, ratio_low, ratio_high }) =>
    [ratio, ratio_low, ratio_high].filter((value) => value !== null && value > 0),
  ) as number[];
  const up = reach(
    bounds.map((value) => Math.log(value)),
    leastReach,
  );
  const down = reach(
    bounds.map((value) => -Math.log(value)),
    leastReach,
  );
  const ratios: Span = [Math.exp(-down), Math.exp(up)];
  const x = linearScale([Math.min(...qs, 0), Math.max(...qs, 1)], width);
  const y = logScale(ratios, height);
  const clamp = (ratio: number) => y(Math.min(ratios[1], Math.max(ratios[0], ratio)));
  const withInterval = known.filter(
    ({ ratio_low, ratio_high }) => ratio_low !== null && ratio_high !== null,
  );
  const edge = (of: 'ratio_low' | 'ratio_high') =>
    withInterval.map((point) => [x(tailPosition(point.q)), clamp(point[of] ?? 1)] as const);
  return {
    x,
    y,
    ratios,
    points: known.map((point) => ({
      ...point,
      px: x(tailPosition(point.q)),
      py: clamp(point.ratio),
      isThin: isHollow(point.q, requests),
    })),
    ribbon: [...edge('ratio_high'), ...edge('ratio_low').reverse()],
  };
}
