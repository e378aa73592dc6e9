import type { FaultKind } from '../fault-kinds.ts';

/** A typical bug of this kind of program, planted into one file of src. */
export interface Mutant {
  readonly name: string;
  /** Description of the bug. */
  readonly bug: string;
  /** File of the repository. */
  readonly file: string;
  /** Text that stands there exactly once, and its replacement. */
  readonly find: string;
  readonly replace: string;
  /** Faults without which it is harmless: only seeds that have them are run. */
  readonly needs?: readonly FaultKind[];
}
