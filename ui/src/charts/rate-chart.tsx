import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { utc } from '../state/zone.ts';
import { type RateLine, runsOf } from './geometry/rate.ts';
import type { TimeSpan } from './geometry/step-grid.ts';
import { ChartFrame, type Cursor } from './parts/chart-frame.tsx';
import { EventLane, type LaneIncident, type LaneRelease } from './parts/event-lane.tsx';
import { guttersOf } from './parts/gutters.ts';
import { type PlotPlace, TimePlot } from './parts/time-plot.tsx';
import { useWidth } from './parts/use-width.ts';
import { formatRate, rateSentence, rateTick } from './rate-text.ts';

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

const axisNames = {
  failed: 'failed requests of all',
  cold: 'cold starts of all requests',
  per_second: 'requests per second',
} as const;

/** A share of the requests, or requests per second, over time beside its baseline; from 0, linear. */
export function RateChart(props: Props) {
  const { label, line, range, incidents, releases, height = 240 } = props;
  const root = useRef<HTMLDivElement>(null);
  const gutters = guttersOf(useWidth(root));
  const cursor = useSignal<Cursor | null>(null);
  const steps = line.times.length;
  const describe = ({ column }: Cursor) => rateSentence(line, column, utc.value);
  const at = cursor.value;
  const lastKnown = line.values.findLastIndex((value) => value !== null);
  return (
    <div ref={root} class="chart chart-rate">
      <RateLegend line={line} baselineName={props.baselineName} />
      <p class="chart-readout">{at === null ? ' ' : describe(at)}</p>
      <ChartFrame
        label={label}
        columns={steps}
        cursor={cursor}
        describe={describe}
        start={{ column: Math.max(0, lastKnown), row: 0 }}
      >
        <TimePlot
          grid={{ ...range, stepMs: line.stepMs, steps }}
          {...{ height, cursor }}
          most={line.most}
          lastTick={line.most}
          tickText={(value) => rateTick(line.measure, value)}
          above={axisNames[line.measure]}
        >
          {(place) => (
            <>
              <RateGround line={line} place={place} />
              <RateMarks line={line} {...place} at={at?.column} />
            </>
          )}
        </TimePlot>
      </ChartFrame>
      <EventLane span={range} incidents={incidents} releases={releases} gutters={gutters} />
    </div>
  );
}

/** The time that is not stored yet, and the baseline. */
function RateGround({ line, place }: { readonly line: RateLine; readonly place: PlotPlace }) {
  const { x, y, left, right, top, bottom } = place;
  const { notStored, baseline } = line;
  return (
    <>
      {notStored !== null && (
        <rect
          class="rate-not-stored"
          x={x(notStored.fromMs)}
          y={top}
          width={right - x(notStored.fromMs)}
          height={bottom - top}
        />
      )}
      {baseline !== null && (
        <line class="rate-baseline" x1={left} x2={right} y1={y(baseline)} y2={y(baseline)} />
      )}
    </>
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

interface MarksProps extends Pick<PlotPlace, 'x' | 'y'> {
  readonly line: RateLine;
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
