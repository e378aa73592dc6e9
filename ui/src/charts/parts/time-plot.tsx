import type { TimeSpan } from '../../format/time.ts';
import { zone } from '../../state/zone.ts';
import type { StepGrid } from '../geometry/step-grid.ts';
import { timeAxis, timeTitle } from './axis.ts';
import { EventLane, type Lane } from './event-lane.tsx';
import { Plot, type PlotProps } from './plot.tsx';

interface Props extends Omit<PlotProps, 'x' | 'columns' | 'title'> {
  readonly grid: StepGrid;
  /** Time of which nothing is stored yet: it is hatched. */
  readonly notStored?: TimeSpan | null;
  /** Incidents and releases below the plot. */
  readonly lane?: Lane;
}

/** A plot over time: a column a step. */
export function TimePlot({ grid, notStored = null, lane, children, below, ...plot }: Props) {
  return (
    <Plot
      {...plot}
      columns={grid.steps}
      x={timeAxis(grid, zone.value)}
      title={timeTitle(grid, zone.value)}
      below={
        <>
          {lane !== undefined && <EventLane span={grid} {...lane} />}
          {below}
        </>
      }
    >
      {(area) => (
        <>
          {notStored !== null && (
            <rect
              class="not-stored"
              {...{ x: area.x(notStored.fromMs), y: area.top, fill: area.hatch }}
              width={area.right - area.x(notStored.fromMs)}
              height={area.bottom - area.top}
            />
          )}
          {children(area)}
        </>
      )}
    </Plot>
  );
}
