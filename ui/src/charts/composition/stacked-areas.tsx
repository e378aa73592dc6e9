import { formatMs, msFormat } from '../../format/number.ts';
import { stepText } from '../../format/time.ts';
import { zone } from '../../state/zone.ts';
import type { StackedAreas } from '../geometry/composition.ts';
import { bandPath } from '../geometry/paths.ts';
import type { StepGrid } from '../geometry/step-grid.ts';
import { linearAxis } from '../parts/axis.ts';
import type { Cursor } from '../parts/chart-frame.tsx';
import { Key } from '../parts/legend-keys.tsx';
import type { Area } from '../parts/plot.tsx';
import { TimePlot } from '../parts/time-plot.tsx';
import { sliceName } from './slice-name.ts';
import { stageClass } from './stage-colors.ts';

interface Props {
  readonly label: string;
  /** Whose means are drawn. */
  readonly of: string;
  readonly areas: StackedAreas;
  readonly grid: StepGrid;
  readonly stages: readonly string[];
  readonly focus: string | null;
}

/** Requests of each step: the mean of each stage in them, stacked, so that it adds up. */
export function StackedAreasChart({ label, of, areas, grid, stages, focus }: Props) {
  const { layers, rows, mostMs } = areas;
  const { unit, tick } = msFormat([mostMs]);
  const endMs = mostMs * 1.05 || 1;
  const describe = ({ column, row }: Cursor) => {
    const at = stepText(grid, column, zone.value);
    const slice = rows[column];
    if (slice == null) return `${at}: no requests`;
    const stage = stages[row] ?? '';
    const ms = slice.parts.find((part) => part.stage === stage)?.mean_ms ?? 0;
    return `${at}, ${sliceName(slice)}: ${stage} ${formatMs(ms)} of ${formatMs(slice.mean_ms)}`;
  };
  const layer = ({ slot, y }: Area, row: number, isAt = false) => (
    <path
      key={stages[row]}
      class={`area ${stageClass(stages[row] ?? '', focus)}`}
      data-at={isAt}
      d={bandPath(layers[row]?.edges ?? [], slot, y)}
    />
  );
  return (
    <TimePlot
      name="areas"
      {...{ label, grid, describe }}
      height={220}
      y={linearAxis(endMs, tick, mostMs)}
      rows={stages.length}
      rowAt={(column, part) =>
        layers.findIndex(({ edges }) => {
          const edge = edges[column];
          return edge != null && edge[0] <= part * endMs && part * endMs <= edge[1];
        })
      }
      start={{ column: rows.findLastIndex((row) => row !== null) }}
      above={unit}
      idle={`${of} of each step, mean of each stage`}
      legend={(at) =>
        stages.map((stage, row) => (
          <Key
            key={stage}
            swatch={`chart-swatch ${stageClass(stage, focus)}`}
            isAt={at?.row === row}
          >
            {stage}
          </Key>
        ))
      }
      atCursor={(area, { row }) => layer(area, row, true)}
    >
      {(area) => layers.map((_, row) => layer(area, row))}
    </TimePlot>
  );
}
