import type { Command as Commander } from 'commander';
import type { ExitCode } from '../base/exit-codes.ts';
import type { Io, Options } from './io.ts';
import type { ConfigFlag } from './load.ts';

/** One `tailmark <name>`. Each has its own file; cli/program/commands.ts lists them with their names. */
export interface Command {
  /** Flags that set keys of the configuration. @default {[]} */
  readonly flags?: readonly ConfigFlag[];
  /** Text after the options, which ends with examples and exit codes. */
  readonly help: string;
  /**
   * True if it ends after its current work once `io.signal` is aborted. Any other command ends at once, with
   * `exitCodes.interrupted`.
   * @default {false}
   */
  readonly endsInOrder?: boolean;
  /** True if `--version` is the command's option, not the one that prints tailmark's. @default {false} */
  readonly ownsVersion?: boolean;
  /** Declares arguments and further options. */
  configure?(command: Commander): void;
  /** @throws {OperatorError} for problems that the operator can fix */
  run(args: readonly string[], options: Options, io: Io): Promise<ExitCode>;
}
