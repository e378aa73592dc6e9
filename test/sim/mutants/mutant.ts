import type { FaultKind } from '../fault-kinds.ts';

/** A bug that this kind of program has had, planted into one file of src. */
export interface Mutant {
  readonly name: string;
  /** What it stands for. */
  readonly bug: string;
  /** File of the repository. */
  readonly file: string;
  /** What stands there, exactly once, and what takes its place. */
  readonly find: string;
  readonly replace: string;
  /** Faults without which it does no harm: only seeds that have them are run. */
  readonly needs?: readonly FaultKind[];
}
