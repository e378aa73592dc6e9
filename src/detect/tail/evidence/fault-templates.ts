/** A fault of a stage: a factor on the time of a share of its requests. */
export interface FaultTemplate {
  readonly share: number;
  /** Binary logarithm of the factor. */
  readonly octaves: number;
}

/** Factors of each share. For few requests the small ones are left out: they hardly move a tail. */
const octavesByShare: readonly (readonly [share: number, octaves: readonly number[]])[] = [
  [0.03, [1.5, 2, 2.5, 3]],
  [0.1, [1, 1.5, 2, 3]],
  [0.3, [0.375, 1, 2, 3]],
  [1, [0.375, 1, 2, 3]],
];

/** The faults that are tested. A fault between two of them is found by either, a little later. */
export const faultTemplates: readonly FaultTemplate[] = octavesByShare.flatMap(([share, octaves]) =>
  octaves.map((each) => ({ share, octaves: each })),
);

/**
 * Index of the last fault: all requests are eight times as slow. Where the baseline has two paths
 * (`slowPathOf`), it is another one: three in ten of all requests move to the slow path.
 */
export const slowPathFault = faultTemplates.length - 1;
export const slowPathShare = 0.3;
