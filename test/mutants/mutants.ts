import { alertMutants } from './alert-mutants.ts';
import { baselineMutants } from './baseline-mutants.ts';
import { completenessMutants } from './completeness-mutants.ts';
import { completionMutants } from './completion-mutants.ts';
import { detectMutants } from './detect-mutants.ts';
import { incidentMutants } from './incident-mutants.ts';
import type { PlantedMutant } from './planted-mutant.ts';
import { releaseMutants } from './release-mutants.ts';
import { watchMutants } from './watch-mutants.ts';

/** Every bug that is planted to see whether the unit tests find it. */
export const mutants: readonly PlantedMutant[] = [
  ...completionMutants,
  ...completenessMutants,
  ...watchMutants,
  ...baselineMutants,
  ...detectMutants,
  ...incidentMutants,
  ...releaseMutants,
  ...alertMutants,
];
