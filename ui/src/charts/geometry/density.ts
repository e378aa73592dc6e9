import type { DensityRow } from '../../data/answers.ts';
import { type Stepped, type Steps, stepsOf } from './step-grid.ts';

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
export interface Density extends Steps {
  readonly cells: readonly DensityCell[];
  /** First band with requests, and the first after the last. */
  readonly bands: readonly [number, number];
}

/** Lays rows out on a grid of steps and bands. Cost: steps and cells. */
export function densityOf(answer: Stepped<DensityRow>): Density {
  const { steps, byStep } = stepsOf(answer);
  const cells = byStep.flatMap((row, column) =>
    (row?.bands ?? []).flatMap(({ band, requests }) => {
      if (row === undefined || requests === 0) return [];
      return [{ column, band, requests, share: requests / row.requests }];
    }),
  );
  const bands = [...new Set(cells.map(({ band }) => band))];
  return {
    ...steps,
    cells,
    bands: bands.length === 0 ? [0, 0] : [Math.min(...bands), Math.max(...bands) + 1],
  };
}

/** Depth of colour of a share, in [0, 1]: logarithmic from 1 in 10,000 to all. */
export function depthOf(share: number): number {
  if (share <= 0) return 0;
  const decades = -Math.log10(leastShare);
  return Math.min(1, Math.max(0.04, 1 + Math.log10(share) / decades));
}
