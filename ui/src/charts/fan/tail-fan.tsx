import { useMemo, useRef } from 'preact/hooks';
import {
  formatCount,
  formatMs,
  hollowReason,
  isHollow,
  quantileName,
} from '../../format/number.ts';
import { utc } from '../../state/zone.ts';
import type { Fan } from '../geometry/fan.ts';
import type { TimeSpan } from '../geometry/step-grid.ts';
import { ChartFrame } from '../parts/chart-frame.tsx';
import { EventLane, type LaneIncident, type LaneRelease } from '../parts/event-lane.tsx';
import { guttersOf } from '../parts/gutters.ts';
import { axisTitle, stepText } from '../parts/time-text.ts';
import { useWidth } from '../parts/use-width.ts';
import { FanLegend, FanMarks, type OverallQuantile } from './fan-legend.tsx';
import { isInSeconds } from './fan-plot.ts';
import type { FanScene } from './fan-scene.ts';
import { SelectionBar } from './selection-bar.tsx';
import { useFanPlot } from './use-fan-plot.ts';

interface Props {
  readonly label: string;
  readonly fan: Fan;
  readonly range: TimeSpan;
  /** Quantiles of the whole range, merged: what the legend shows without a cursor. */
  readonly overall: {
    readonly requests: number;
    readonly quantiles: readonly OverallQuantile[];
  } | null;
  /** Quantile that the baseline is of. */
  readonly mainQ: number;
  readonly hidden: ReadonlySet<number>;
  readonly onHide?: (q: number) => void;
  readonly incidents: readonly LaneIncident[];
  readonly releases: readonly LaneRelease[];
  readonly height?: number;
}

/**
 * Quantiles over time on a log axis: the space between them shaded, the baseline as a hatched band, incidents
 * and releases below. Open steps are dashed, steps without requests are gaps, what is not stored is hatched.
 */
export function TailFan(props: Props) {
  const { label, fan, range, mainQ, hidden, incidents, releases, height = 280 } = props;
  const host = useRef<HTMLDivElement>(null);
  const width = useWidth(host);
  const gutters = guttersOf(width);
  const spans = useMemo(
    () => incidents.map(({ fromMs, toMs }) => ({ fromMs, toMs: toMs ?? range.toMs })),
    [incidents, range.toMs],
  );
  const flags = useMemo(() => releases.map(({ atMs }) => atMs), [releases]);
  const scene: FanScene = {
    fan,
    range,
    utc: utc.value,
    hidden,
    mainQ,
    incidents: spans,
    releases: flags,
    gutters,
  };
  const { cursor, selected, select, clear } = useFanPlot(host, scene, { width, height }, label);
  const describe = useMemo(() => describing(fan, utc.value), [fan, utc.value]);
  const unit = isInSeconds(scene) ? 's' : 'ms';
  return (
    <div class="chart chart-fan">
      <FanLegend {...props} cursor={cursor} />
      <ChartFrame
        label={label}
        columns={fan.times.length}
        cursor={cursor}
        describe={({ column }) => describe(column)}
        onExtend={select}
        onOpen={(at) => select(at, at)}
        onEscape={clear}
        start={{
          column: Math.max(
            0,
            fan.requests.findLastIndex((n) => n > 0),
          ),
          row: 0,
        }}
      >
        <div class="chart-above">
          <span>{unit}, log</span>
          <FanMarks {...props} />
        </div>
        <div ref={host} class="chart-plot" style={{ height: `${height}px` }} />
        <p class="chart-axis-title" style={{ marginRight: `${gutters.right}px` }}>
          {axisTitle(range.fromMs, fan.stepMs, utc.value)}
        </p>
      </ChartFrame>
      <EventLane span={range} incidents={incidents} releases={releases} gutters={gutters} />
      <SelectionBar selected={selected} onClear={clear} />
    </div>
  );
}

/** A step as a sentence. */
function describing(fan: Fan, inUtc: boolean): (step: number) => string {
  return (step) => {
    const at = stepText(fan.times[step] ?? 0, fan.stepMs, inUtc);
    const requests = fan.requests[step] ?? 0;
    const state = fan.states[step];
    if (requests === 0) return `${at}: ${state === 'open' ? 'not stored yet' : 'no requests'}`;
    const values = fan.lines.map(({ q, values }) => `${quantileName(q)} ${formatMs(values[step])}`);
    const few = fan.lines.find(({ q }) => isHollow(q, requests));
    const baseline = fan.baseline?.median[step] ?? null;
    return [
      `${at}: ${values.join(', ')}`,
      ...(baseline === null ? [] : [`baseline ${formatMs(baseline)}`]),
      few === undefined ? `${formatCount(requests)} requests` : hollowReason(few.q, requests),
      ...(state === 'final' ? [] : [state]),
    ].join('; ');
  };
}
