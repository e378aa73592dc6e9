import { linearScale } from '../geometry/scale.ts';
import { timeTicksOf } from './gutters.ts';
import { pageTimeTicks, tickText } from './time-text.ts';

interface Props {
  readonly fromMs: number;
  readonly toMs: number;
  readonly utc: boolean;
  readonly left: number;
  readonly right: number;
  /** Upper and lower end of the plot. */
  readonly top: number;
  readonly bottom: number;
}

/** Grid lines and labels of a time axis, in an SVG. */
export function TimeAxis({ fromMs, toMs, utc, left, right, top, bottom }: Props) {
  const x = linearScale([fromMs, toMs], [left, right]);
  const { times, stepMs } = pageTimeTicks(fromMs, toMs, timeTicksOf(right - left), utc);
  return (
    <g class="chart-axis">
      {times.map((at) => (
        <g key={at}>
          <line class="chart-grid" x1={x(at)} x2={x(at)} y1={top} y2={bottom} />
          <text x={x(at)} y={bottom + 15} text-anchor="middle">
            {tickText(at, stepMs, utc)}
          </text>
        </g>
      ))}
    </g>
  );
}
