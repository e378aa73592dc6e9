import { utc } from '../state/zone.ts';
import { dotsPath, linePath } from './geometry/paths.ts';
import type { RateLine } from './geometry/rate.ts';
import { splitOpen } from './geometry/step-grid.ts';
import { linearAxis } from './parts/axis.ts';
import type { Lane } from './parts/event-lane.tsx';
import { Key, StepKeys } from './parts/legend-keys.tsx';
import type { Area } from './parts/plot.tsx';
import { TimePlot } from './parts/time-plot.tsx';
import { formatRate, rateSentence, rateTick } from './rate-text.ts';

interface Props {
  readonly label: string;
  readonly line: RateLine;
  /** Name of the baseline in the legend. */
  readonly baselineName: string;
  readonly lane: Lane;
}

const axisNames = {
  failed: 'failed requests of all',
  cold: 'cold starts of all requests',
  per_second: 'requests per second',
} as const;

/** A share of the requests, or requests per second, over time beside its baseline; from 0, linear. */
export function RateChart({ label, line, baselineName, lane }: Props) {
  const { measure, grid, values, states, baseline, notStored } = line;
  return (
    <TimePlot
      name="rate"
      {...{ label, grid, lane, notStored }}
      height={240}
      y={linearAxis(line.most, (value) => rateTick(measure, value))}
      describe={({ column }) => rateSentence(line, column, utc.value)}
      start={{ column: values.findLastIndex((value) => value !== null) }}
      above={axisNames[measure]}
      legend={() => (
        <>
          {baseline !== null && (
            <Key swatch="chart-swatch-line rate-baseline-key">
              {baselineName} <b>{formatRate(measure, baseline)}</b>
            </Key>
          )}
          <StepKeys
            isThin={line.thin.includes(true)}
            isOpen={values.some((value, i) => value !== null && states[i] === 'open')}
            isStored={notStored === null}
          />
        </>
      )}
      atCursor={(area, { column }) => <RateDots {...{ line, area }} only={column} />}
    >
      {(area) => <RateMarks {...{ line, area }} />}
    </TimePlot>
  );
}

interface MarksProps {
  readonly line: RateLine;
  readonly area: Area;
}

/** The baseline, and the line with its gaps. */
function RateMarks({ line, area }: MarksProps) {
  const { left, right, middle, y } = area;
  const { values, states, baseline } = line;
  const { closed, open } = splitOpen(values, states);
  return (
    <>
      {baseline !== null && (
        <line class="rate-baseline" x1={left} x2={right} y1={y(baseline)} y2={y(baseline)} />
      )}
      <path class="rate-line" d={linePath(closed, middle, y)} />
      <path class="rate-line" data-open d={linePath(open, middle, y)} />
      <RateDots {...{ line, area }} />
    </>
  );
}

/** A point a step, hollow where few requests were; the one under the cursor is larger. */
function RateDots({ line, area, only }: MarksProps & { readonly only?: number }) {
  const dots = (isThin: boolean) =>
    line.values.flatMap((value, i) =>
      value === null || line.thin[i] !== isThin || (only ?? i) !== i
        ? []
        : [[area.middle(i), area.y(value)] as const],
    );
  const radius = only === undefined ? 2.5 : 4.5;
  return (
    <>
      <path class="rate-point" d={dotsPath(dots(false), radius)} />
      <path class="rate-point" data-thin d={dotsPath(dots(true), radius)} />
    </>
  );
}
