import { useSignal } from '@preact/signals';
import { decimal, formatMs } from '../../format/number.ts';
import { utc } from '../../state/zone.ts';
import type { StackedAreas } from '../geometry/composition.ts';
import type { StepGrid } from '../geometry/step-grid.ts';
import { ChartFrame, type Cursor } from '../parts/chart-frame.tsx';
import { TimePlot } from '../parts/time-plot.tsx';
import { stepText } from '../parts/time-text.ts';
import { sliceName } from './slice-name.ts';
import { stageClass } from './stage-colors.ts';

interface Props {
  readonly label: string;
  readonly areas: StackedAreas;
  readonly grid: StepGrid;
  readonly stages: readonly string[];
  readonly focus: string | null;
  readonly height?: number;
}

const secondsFromMs = 10_000;

/** The slowest requests of each step: the mean of each stage in them, stacked, so that it adds up. */
export function StackedAreasChart({ label, areas, grid, stages, focus, height = 220 }: Props) {
  const cursor = useSignal<Cursor | null>(null);
  const inSeconds = areas.mostMs >= secondsFromMs;
  const describe = ({ column, row }: Cursor) => {
    const at = stepText(areas.times[column] ?? 0, grid.stepMs, utc.value);
    const slice = areas.rows[column];
    if (slice == null) return `${at}: no requests`;
    const stage = stages[row] ?? '';
    const ms = slice.parts.find((part) => part.stage === stage)?.mean_ms ?? 0;
    return `${at}, ${sliceName(slice)}: ${stage} ${formatMs(ms)} of ${formatMs(slice.mean_ms)}`;
  };
  const rowAt = (column: number, ms: number) => {
    const row = areas.layers.findIndex(({ edges }) => {
      const edge = edges[column];
      return edge != null && edge[0] <= ms && ms <= edge[1];
    });
    return Math.max(0, row);
  };
  const at = cursor.value;
  return (
    <div class="chart chart-areas">
      <div class="chart-legend">
        {stages.map((stage, row) => (
          <span key={stage} class="chart-key-static" data-at={at?.row === row}>
            <i class={`chart-swatch ${stageClass(stage, focus)}`} />
            {stage}
          </span>
        ))}
      </div>
      <p class="chart-readout">
        {at === null ? 'Slowest slice of each step, mean of each stage' : describe(at)}
      </p>
      <ChartFrame
        label={label}
        columns={grid.steps}
        rows={stages.length}
        cursor={cursor}
        describe={describe}
        start={{
          column: Math.max(
            0,
            areas.rows.findLastIndex((row) => row !== null),
          ),
          row: 0,
        }}
      >
        <TimePlot
          {...{ grid, height, cursor, rowAt }}
          most={areas.mostMs * 1.05 || 1}
          lastTick={areas.mostMs}
          tickText={(ms) => decimal(inSeconds ? ms / 1000 : ms)}
          above={inSeconds ? 's' : 'ms'}
        >
          {({ x, y }) =>
            areas.layers.map(({ stage, edges }, row) => (
              <path
                key={stage}
                class={`area ${stageClass(stage, focus)}`}
                data-at={at?.row === row}
                d={areaPath(
                  edges,
                  (i) => [x(areas.times[i] ?? 0), x((areas.times[i] ?? 0) + grid.stepMs)],
                  y,
                )}
              />
            ))
          }
        </TimePlot>
      </ChartFrame>
    </div>
  );
}

type Edges = readonly (readonly [number, number] | null)[];

/** Lines through the middle of the steps, one outline a run of steps without a gap, flat at its ends. */
function areaPath(
  edges: Edges,
  xOf: (i: number) => readonly [number, number],
  y: (ms: number) => number,
): string {
  let path = '';
  for (let from = 0; from < edges.length; from++) {
    if (edges[from] == null) continue;
    let to = from;
    while (to < edges.length && edges[to] != null) to++;
    const at = (x: number, ms: number) => `${x.toFixed(1)},${y(ms).toFixed(1)}`;
    const upper: string[] = [];
    const lower: string[] = [];
    for (let i = from; i < to; i++) {
      const [low, high] = edges[i] ?? [0, 0];
      const [start, end] = xOf(i);
      const places = [
        ...(i === from ? [start] : []),
        (start + end) / 2,
        ...(i === to - 1 ? [end] : []),
      ];
      upper.push(...places.map((x) => at(x, high)));
      lower.unshift(...places.map((x) => at(x, low)).reverse());
    }
    path += `M${upper.join('L')}L${lower.join('L')}Z`;
    from = to;
  }
  return path;
}
