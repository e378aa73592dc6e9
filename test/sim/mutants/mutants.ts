import { ingestMutants } from './ingest-mutants.ts';
import type { Mutant } from './mutant.ts';
import { removalMutants } from './removal-mutants.ts';
import { sinkMutants } from './sink-mutants.ts';
import { sourceMutants } from './source-mutants.ts';
import { windowMutants } from './window-mutants.ts';

/** Every bug that is planted to test the simulator. */
export const mutants: readonly Mutant[] = [
  ...sourceMutants,
  ...ingestMutants,
  ...removalMutants,
  ...windowMutants,
  ...sinkMutants,
];
