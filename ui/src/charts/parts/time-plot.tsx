import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { utc } from '../../state/zone.ts';
import { linearScale, linearTicks } from '../geometry/scale.ts';
import type { StepGrid } from '../geometry/step-grid.ts';
import type { Cursor } from './chart-frame.tsx';
import { guttersOf } from './gutters.ts';
import { TimeAxis } from './time-axis.tsx';
import { axisTitle } from './time-text.ts';
import { useWidth } from './use-width.ts';

/** Area that a plot draws in, in pixels. */
export interface PlotPlace {
  readonly x: (ms: number) => number;
  readonly y: (value: number) => number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

interface Props {
  readonly grid: StepGrid;
  /** End of the value axis, which begins at 0. */
  readonly most: number;
  /** Last value that has a grid line. */
  readonly lastTick: number;
  readonly tickText: (value: number) => string;
  /** Unit of the values, above the plot. */
  readonly above: string;
  readonly height: number;
  readonly cursor: Signal<Cursor | null>;
  /** Row of a chart with rows at a step and a height of the plot. @default 0 */
  readonly rowAt?: (column: number, value: number) => number;
  readonly children: (place: PlotPlace) => ComponentChildren;
}

const top = 8;
const axisHeight = 26;

/** A plot of values from 0 over time: its axes, the step under the pointer, and what is drawn between. */
export function TimePlot(props: Props) {
  const { grid, most, cursor, height, rowAt = () => 0 } = props;
  const host = useRef<HTMLDivElement>(null);
  const width = useWidth(host);
  const gutters = guttersOf(width);
  const [left, right] = [gutters.left, Math.max(gutters.left + 1, width - gutters.right)];
  const bottom = height - axisHeight;
  const x = linearScale([grid.fromMs, grid.toMs], [left, right]);
  const y = linearScale([0, most], [bottom, top]);
  const follow = (event: PointerEvent) => {
    const box = host.current?.getBoundingClientRect();
    if (box === undefined) return;
    const column = Math.floor(((event.clientX - box.left - left) / (right - left)) * grid.steps);
    const value = ((bottom - (event.clientY - box.top)) / (bottom - top)) * most;
    const isInside = column >= 0 && column < grid.steps;
    cursor.value = isInside ? { column, row: rowAt(column, value) } : null;
  };
  const at = cursor.value;
  const middle = at === null ? 0 : x(grid.fromMs + (at.column + 0.5) * grid.stepMs);
  return (
    <>
      <p class="chart-above">{props.above}</p>
      <div
        ref={host}
        class="chart-plot"
        style={{ height: `${height}px` }}
        onPointerMove={follow}
        onPointerLeave={() => {
          cursor.value = null;
        }}
      >
        <svg width={width} height={height} aria-hidden="true">
          {linearTicks([0, props.lastTick], 5).map((value) => (
            <g key={value} class="chart-axis">
              <line class="chart-grid" x1={left} x2={right} y1={y(value)} y2={y(value)} />
              <text x={left - 6} y={y(value)} dy="0.35em" text-anchor="end">
                {props.tickText(value)}
              </text>
            </g>
          ))}
          <TimeAxis
            {...{ fromMs: grid.fromMs, toMs: grid.toMs }}
            {...{ left, right, top, bottom }}
            utc={utc.value}
          />
          {props.children({ x, y, left, right, top, bottom })}
          {at !== null && (
            <line class="chart-cursor" x1={middle} x2={middle} y1={top} y2={bottom} />
          )}
        </svg>
      </div>
      <p class="chart-axis-title" style={{ marginRight: `${gutters.right}px` }}>
        {axisTitle(grid.fromMs, grid.stepMs, utc.value)}
      </p>
    </>
  );
}
