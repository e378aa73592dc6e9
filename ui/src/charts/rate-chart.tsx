import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { utc } from '../state/zone.ts';
import { type RateLine, runsOf } from './geometry/rate.ts';
import { linearScale, linearTicks } from './geometry/scale.ts';
import type { TimeSpan } from './geometry/step-grid.ts';
import { ChartFrame, type Cursor } from './parts/chart-frame.tsx';
import { EventLane, type LaneIncident, type LaneRelease } from './parts/event-lane.tsx';
import { guttersOf } from './parts/gutters.ts';
import { TimeAxis } from './parts/time-axis.tsx';
import { axisTitle } from './parts/time-text.ts';
import { useWidth } from './parts/use-width.ts';
import { formatRate, rateSentence } from './rate-text.ts';

interface Props {
  readonly label: string;
  readonly line: RateLine;
  readonly range: TimeSpan;
  /** Name of the baseline in the legend. */
  readonly baselineName: string;
  readonly incidents: readonly LaneIncident[];
  readonly releases: readonly LaneRelease[];
  readonly height?: number;
}

const top = 8;
const axisHeight = 26;
const axisNames = {
  failed: 'failed requests of all',
  cold: 'cold starts of all requests',
  per_second: 'requests per second',
} as const;

/** A share of the requests, or requests per second, over time beside its baseline; from 0, linear. */
export function RateChart(props: Props) {
  const { label, line, range, incidents, releases, height = 240 } = props;
  const host = useRef<HTMLDivElement>(null);
  const width = useWidth(host);
  const gutters = guttersOf(width);
  const cursor = useSignal<Cursor | null>(null);
  const [left, right] = [gutters.left, Math.max(gutters.left + 1, width - gutters.right)];
  const bottom = height - axisHeight;
  const x = linearScale([range.fromMs, range.toMs], [left, right]);
  const y = linearScale([0, line.most], [bottom, top]);
  const describe = ({ column }: Cursor) => rateSentence(line, column, utc.value);
  const steps = line.times.length;
  const follow = (event: PointerEvent) => {
    const box = host.current?.getBoundingClientRect();
    if (box === undefined) return;
    const column = Math.floor(((event.clientX - box.left - left) / (right - left)) * steps);
    cursor.value = column < 0 || column >= steps ? null : { column, row: 0 };
  };
  const at = cursor.value;
  const lastKnown = line.values.findLastIndex((value) => value !== null);
  return (
    <div class="chart chart-rate">
      <RateLegend line={line} baselineName={props.baselineName} />
      <p class="chart-readout">{at === null ? ' ' : describe(at)}</p>
      <ChartFrame
        label={label}
        columns={steps}
        cursor={cursor}
        describe={describe}
        start={{ column: Math.max(0, lastKnown), row: 0 }}
      >
        <p class="chart-above">{axisNames[line.measure]}</p>
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
            {linearTicks([0, line.most], 5).map((value) => (
              <g key={value} class="chart-axis">
                <line class="chart-grid" x1={left} x2={right} y1={y(value)} y2={y(value)} />
                <text x={left - 6} y={y(value)} dy="0.35em" text-anchor="end">
                  {formatRate(line.measure, value)}
                </text>
              </g>
            ))}
            <TimeAxis {...range} {...{ left, right, top, bottom }} utc={utc.value} />
            {line.notStored !== null && (
              <rect
                class="rate-not-stored"
                x={x(line.notStored.fromMs)}
                y={top}
                width={right - x(line.notStored.fromMs)}
                height={bottom - top}
              />
            )}
            {line.baseline !== null && (
              <line
                class="rate-baseline"
                x1={left}
                x2={right}
                y1={y(line.baseline)}
                y2={y(line.baseline)}
              />
            )}
            <RateMarks line={line} x={x} y={y} at={at?.column} />
            {at !== null && (
              <line
                class="chart-cursor"
                x1={x((line.times[at.column] ?? 0) + line.stepMs / 2)}
                x2={x((line.times[at.column] ?? 0) + line.stepMs / 2)}
                y1={top}
                y2={bottom}
              />
            )}
          </svg>
        </div>
        <p class="chart-axis-title" style={{ marginRight: `${gutters.right}px` }}>
          {axisTitle(range.fromMs, line.stepMs, utc.value)}
        </p>
      </ChartFrame>
      <EventLane span={range} incidents={incidents} releases={releases} gutters={gutters} />
    </div>
  );
}

function RateLegend({ line, baselineName }: Pick<Props, 'line' | 'baselineName'>) {
  return (
    <div class="chart-legend">
      {line.baseline !== null && (
        <span class="chart-key-static">
          <i class="chart-swatch-line rate-baseline-key" />
          {baselineName} <b>{formatRate(line.measure, line.baseline)}</b>
        </span>
      )}
      {line.thin.includes(true) && (
        <span class="chart-key-static">
          <i class="chart-swatch-hollow" />
          few requests
        </span>
      )}
      {runsOf(line).some(({ isOpen }) => isOpen) && (
        <span class="chart-key-static">
          <i class="chart-swatch-open" />
          open
        </span>
      )}
      {line.notStored !== null && (
        <span class="chart-key-static">
          <i class="chart-swatch rate-not-stored" />
          not stored yet
        </span>
      )}
    </div>
  );
}

interface MarksProps {
  readonly line: RateLine;
  readonly x: (ms: number) => number;
  readonly y: (value: number) => number;
  readonly at: number | undefined;
}

/** The line with its gaps, and a point a step, hollow where few requests were. */
function RateMarks({ line, x, y, at }: MarksProps) {
  const place = (i: number) =>
    [x((line.times[i] ?? 0) + line.stepMs / 2), y(line.values[i] ?? 0)] as const;
  return (
    <g>
      {runsOf(line).map(({ from, to, isOpen }) => (
        <polyline
          key={`${from} ${isOpen}`}
          class="rate-line"
          data-open={isOpen}
          points={line.values
            .slice(from, to + 1)
            .map((_, i) => place(from + i).join())
            .join(' ')}
        />
      ))}
      {line.values.map((value, i) => {
        if (value === null) return null;
        const [cx, cy] = place(i);
        return (
          <circle
            key={line.times[i]}
            class="rate-point"
            data-thin={line.thin[i]}
            {...{ cx, cy }}
            r={i === at ? 4.5 : 2.5}
          />
        );
      })}
    </g>
  );
}
