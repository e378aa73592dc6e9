/** What may be wrong with a stage: part of its requests take so many times as long. */
export interface FaultTemplate {
  readonly share: number;
  /** The factor, as a logarithm to the base 2. */
  readonly octaves: number;
}

/** The factors of each share. Of few requests the small ones are left out: they move no tail by what matters. */
const octavesByShare: readonly (readonly [share: number, octaves: readonly number[]])[] = [
  [0.03, [1.5, 2, 2.5, 3]],
  [0.1, [1, 1.5, 2, 3]],
  [0.3, [0.375, 1, 2, 3]],
  [1, [0.375, 1, 2, 3]],
];

/**
 * The faults that are looked for: from a few requests many times as slow to all of them a third slower.
 * One between two of them is found by either, a little later.
 */
export const faultTemplates: readonly FaultTemplate[] = octavesByShare.flatMap(([share, octaves]) =>
  octaves.map((each) => ({ share, octaves: each })),
);

/**
 * The place of the last one, all eight times as slow. Of a baseline with two paths (`slowPathOf`) it is another
 * one: three in ten of all requests take the slow path. What all eight times as slow is, others see there.
 */
export const slowPathFault = faultTemplates.length - 1;
/** Part of all requests that takes the slow path then. */
export const slowPathShare = 0.3;
