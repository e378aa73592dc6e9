import { isHollow } from '../../format/number.ts';
import { type Span, tailPosition } from './scale.ts';

/** A quantile of B against A. */
export interface ShiftPoint {
  readonly q: number;
  readonly a_ms: number | null;
  readonly b_ms: number | null;
  readonly a_at_least: boolean;
  readonly b_at_least: boolean;
  readonly ratio: number | null;
  readonly ratio_low: number | null;
  readonly ratio_high: number | null;
}

type Interval = Pick<ShiftPoint, 'ratio_low' | 'ratio_high'>;

/** Change from A to B, by an interval: worse or better only where it excludes 1. */
export type Change = 'worse' | 'better' | 'unclear';

export function changeOf({ ratio_low: low, ratio_high: high }: Interval): Change {
  if (low !== null && low > 1) return 'worse';
  if (high !== null && high < 1) return 'better';
  return 'unclear';
}

export interface ShiftLayout {
  /** Ends of the axis of quantiles, as `tailPosition` has them. */
  readonly nines: Span;
  /** Ratios at the lower and the upper end. */
  readonly ratios: Span;
  readonly points: readonly (ShiftPoint & {
    readonly ratio: number;
    readonly nines: number;
    readonly change: Change;
    /** True if A or B has too few requests beyond the quantile. */
    readonly isThin: boolean;
  })[];
  /** The intervals, which the axis may not hold. */
  readonly ribbon: readonly { readonly nines: number; readonly edge: Span }[];
}

/** Half of the least ratio range: ×1.25, so that noise does not fill the chart. */
const leastReach = Math.log(1.25);
/** Beyond ×16 an interval says only that it is wide. */
const mostReach = Math.log(16);

/**
 * Lays out a shift function: quantiles on a 1−q log axis, ratios on a log axis with 1 inside.
 *
 * @param requests of the smaller side.
 * @param hasIntervals false where another test decides, as that of an incident: then the points have none.
 */
export function shiftOf(
  all: readonly ShiftPoint[],
  requests: number,
  hasIntervals = true,
): ShiftLayout {
  const points = all.flatMap((point) => {
    const { q, ratio } = point;
    if (ratio === null) return [];
    // Without intervals the ratio itself gives the colour.
    const change = changeOf(hasIntervals ? point : { ratio_low: ratio, ratio_high: ratio });
    const interval = hasIntervals ? {} : { ratio_low: null, ratio_high: null };
    const place = { nines: tailPosition(q), isThin: isHollow(q, requests) };
    return [{ ...point, ...interval, ...place, ratio, change }];
  });
  const logs = points.flatMap(({ ratio, ratio_low, ratio_high }) =>
    [ratio, ratio_low, ratio_high].flatMap((value) => (value ? [Math.log(value)] : [])),
  );
  const reach = (sign: 1 | -1) =>
    Math.exp(
      sign * Math.min(mostReach, Math.max(leastReach, ...logs.map((log) => sign * log)) * 1.08),
    );
  const ratios: Span = [reach(-1), reach(1)];
  const nines = all.map(({ q }) => tailPosition(q));
  return {
    ...{ ratios, points },
    nines: [Math.min(...nines, 0), Math.max(...nines, 1)],
    ribbon: points.flatMap(({ nines, ratio_low: low, ratio_high: high }) =>
      low === null || high === null ? [] : [{ nines, edge: [low, high] as const }],
    ),
  };
}
