import { quantileName } from '../format/number.ts';
import { bandPath, dotsPath, linePath } from './geometry/paths.ts';
import { ratioTicks, type Span, tailPosition } from './geometry/scale.ts';
import { type ShiftPoint, shiftOf } from './geometry/shift.ts';
import type { Axis } from './parts/axis.ts';
import { Key } from './parts/legend-keys.tsx';
import { Plot, plotRight } from './parts/plot.tsx';
import { shiftSentence } from './shift-text.ts';

interface Props {
  readonly label: string;
  readonly points: readonly ShiftPoint[];
  /** The same with B weighted to the mix of A. */
  readonly likeWithLike: readonly ShiftPoint[] | null;
  /** Requests of the smaller side. */
  readonly requests: number;
  /** False where the test of an incident decides: none is drawn, and the ratio gives the colour. */
  readonly hasIntervals: boolean;
}

/**
 * B / A at each quantile, with its interval where there is one. Each further nine of the quantile has the
 * same width; a ratio and its inverse are equally far from 1.
 */
export function ShiftFunction(props: Props) {
  const { label, points: all, likeWithLike, requests, hasIntervals } = props;
  const { points, ribbon, ratios, nines } = shiftOf(all, requests, hasIntervals);
  const like = likeWithLike?.filter(({ ratio }) => ratio !== null) ?? [];
  return (
    <Plot
      name="shift"
      label={label}
      height={300}
      columns={points.length}
      points={points.map((point) => point.nines)}
      x={quantileAxis(nines)}
      y={ratioAxis(ratios)}
      describe={({ column }) => shiftSentence(points[column], requests, like, hasIntervals)}
      above="B / A, log"
      title="percentile"
      right={plotRight}
      legend={() => (
        <>
          <Key swatch="chart-swatch shift-worse">B slower</Key>
          <Key swatch="chart-swatch shift-better">B faster</Key>
          {hasIntervals && <Key swatch="chart-swatch shift-unclear">interval holds ×1</Key>}
          {like.length > 0 && (
            <Key swatch="chart-swatch-open">like with like: B in the mix of A</Key>
          )}
          {points.some(({ isThin }) => isThin) && (
            <Key swatch="chart-swatch-hollow">few requests</Key>
          )}
        </>
      )}
      atCursor={({ x, y }, { column }) =>
        points
          .slice(column, column + 1)
          .map((point) => (
            <path
              key={point.q}
              class={`shift-point shift-${point.change}`}
              d={dotsPath([[x(point.nines), y(point.ratio)]], 5)}
            />
          ))
      }
    >
      {({ x, y, left, right }) => (
        <>
          <path
            class="shift-ribbon"
            d={bandPath(
              ribbon.map(({ edge }) => edge),
              (i) => [x(ribbon[i]?.nines ?? 0), x(ribbon[i]?.nines ?? 0)],
              y,
            )}
          />
          <line class="shift-one" x1={left} x2={right} y1={y(1)} y2={y(1)} />
          <path
            class="shift-like"
            d={linePath(
              like.map(({ ratio }) => ratio),
              (i) => x(tailPosition(like[i]?.q ?? 0)),
              y,
            )}
          />
          {points.slice(1).map((point, i) => {
            const before = points[i] ?? point;
            const change = point.change === before.change ? point.change : 'unclear';
            return (
              <path
                key={point.q}
                class={`shift-line shift-${change}`}
                d={`M${x(before.nines)} ${y(before.ratio)}L${x(point.nines)} ${y(point.ratio)}`}
              />
            );
          })}
          {points.map((point) => (
            <circle
              key={point.q}
              class={`shift-point shift-${point.change}`}
              data-thin={point.isThin}
              cx={x(point.nines)}
              cy={y(point.ratio)}
              r={3}
            />
          ))}
        </>
      )}
    </Plot>
  );
}

const ratioAxis = (span: Span): Axis => ({
  span,
  // A ratio beyond the axis is at its end.
  along: (ratio) => Math.log(Math.min(span[1], Math.max(span[0], ratio))),
  ticks: () => ratioTicks(span, 7).map((ratio) => [ratio, `×${Number(ratio.toFixed(2))}`]),
});

/** Quantiles that have a label, the most wanted first. */
const tickQs = [0.5, 0.99, 0.9, 0.999, 0.95, 0.01, 0.75] as const;
/** Labels of quantiles closer than this are left out. */
const labelPx = 34;

const quantileAxis = (span: Span): Axis => ({
  span,
  ticks(_, scale) {
    const shown: number[] = [];
    for (const q of tickQs) {
      const nines = tailPosition(q);
      const isFree = shown.every((other) => Math.abs(scale(other) - scale(nines)) >= labelPx);
      if (nines >= span[0] && nines <= span[1] + 1e-9 && isFree) shown.push(nines);
    }
    return shown.map((nines) => [nines, quantileName(1 - 10 ** -nines)]);
  },
});
