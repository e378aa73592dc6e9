import type { DensityRow, Range, WindowState, Windows } from '../../data/answers.ts';
import {
  notStoredOf,
  rowsByStep,
  type StepGrid,
  statesOf,
  stepGridOf,
  type TimeSpan,
} from './step-grid.ts';

/** Bands are quarter octaves; band 0 begins at 1 ms. */
export const bandEdgeMs = (band: number): number => 2 ** (band / 4);

/** Least share of a column that has its own colour. */
const leastShare = 1e-4;

/** A band of a step that has requests. */
export interface DensityCell {
  readonly column: number;
  readonly band: number;
  readonly requests: number;
  /** Part of the requests of its column. */
  readonly share: number;
}

/** A density chart: columns of steps, rows of bands. */
export interface Density {
  readonly grid: StepGrid;
  /** Requests of each column. */
  readonly requests: readonly number[];
  readonly states: readonly WindowState[];
  /** Time of which nothing is stored yet. */
  readonly notStored: TimeSpan | null;
  readonly cells: readonly DensityCell[];
  /** First band with requests, and the first after the last. */
  readonly bands: readonly [number, number];
}

/** Lays rows out on a grid of steps and bands. Cost: steps and cells. */
export function densityOf(rows: readonly DensityRow[], range: Range, windows: Windows): Density {
  const grid = stepGridOf(range);
  const byStep = rowsByStep(rows, grid);
  const states = statesOf(byStep, windows);
  const requests = byStep.map((row) => row?.requests ?? 0);
  const cells = byStep.flatMap((row, column) =>
    (row?.bands ?? []).flatMap(({ band, requests }) => {
      if (row === undefined || requests === 0) return [];
      return [{ column, band, requests, share: requests / row.requests }];
    }),
  );
  let first = Number.POSITIVE_INFINITY;
  let end = Number.NEGATIVE_INFINITY;
  for (const { band } of cells) {
    first = Math.min(first, band);
    end = Math.max(end, band + 1);
  }
  return {
    ...{ grid, requests, states },
    notStored: notStoredOf(states, requests, grid),
    cells,
    bands: cells.length === 0 ? [0, 0] : [first, end],
  };
}

/** Depth of colour of a share, in [0, 1]: logarithmic from 1 in 10,000 to all. */
export function depthOf(share: number): number {
  if (share <= 0) return 0;
  const decades = -Math.log10(leastShare);
  return Math.min(1, Math.max(0.04, 1 + Math.log10(share) / decades));
}
