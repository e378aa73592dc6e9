import type { Command as Commander } from 'commander';
import type { ExitCode } from '../base/exit-codes.ts';
import type { Io } from './io.ts';

/** One `tailmark <name>`. Each has its own file and is listed in cli/commands.ts. */
export interface Command {
  readonly name: string;
  /** One line for `tailmark --help`. */
  readonly summary: string;
  /** Declares arguments and options, and help text that ends with examples. */
  configure(command: Commander): void;
  /** @throws {OperatorError} for problems that the operator can fix */
  run(
    args: readonly string[],
    options: Readonly<Record<string, unknown>>,
    io: Io,
  ): Promise<ExitCode>;
}
