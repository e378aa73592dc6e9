import type { Mutant } from '../sim/mutants/mutant.ts';

/** A bug of the detector, and where it must show. */
export interface PlantedMutant extends Mutant {
  /** Test files, at least one of which fails with the bug planted; the quickest first. */
  readonly tests: readonly string[];
}
