/** What may be wrong with a stage: part of its requests take so many times as long. */
export interface FaultTemplate {
  readonly share: number;
  /** The factor, as a logarithm to the base 2. */
  readonly octaves: number;
}

/**
 * The faults that are looked for: from a few requests many times as slow to all of them a third slower.
 * One between two of them is found by either, a little later.
 */
export const faultTemplates: readonly FaultTemplate[] = [0.03, 0.1, 0.3, 1].flatMap((share) =>
  [0.375, 1, 2, 3].map((octaves) => ({ share, octaves })),
);
