import type { ExitCode } from '../../base/exit-codes.ts';
import { OperatorError } from '../../base/operator-error.ts';
import type { Io } from '../io.ts';
import { colorsOf } from './colors.ts';

export interface PrintErrorOptions {
  /** True for one line of JSON instead of text. */
  readonly json: boolean;
  /** True for stacks and causes too. */
  readonly debug: boolean;
}

/** Prints an error on standard error and returns its exit code. */
export function printError(
  error: unknown,
  io: Pick<Io, 'err' | 'color' | 'isErrTty'>,
  { json, debug }: PrintErrorOptions,
): ExitCode {
  const shown = error instanceof OperatorError ? error : unexpected(error, debug);
  const { code, message, hint, exitCode } = shown;
  const details = debug ? stackOf(error) : undefined;
  if (json) {
    const problems = 'problems' in shown ? { problems: shown.problems } : {};
    io.err(`${JSON.stringify({ error: { code, message, hint, ...problems, details } })}\n`);
    return exitCode;
  }
  const { bold, red } = colorsOf({ color: io.color && io.isErrTty });
  const lines = [`${red(bold('error:'))} ${message}`];
  if (hint !== undefined) lines.push(`${bold('hint:')} ${hint}`);
  // A usage error is one line and its hint, which suffice for its user.
  if (code !== 'TAILMARK_USAGE') lines.push(`${bold('code:')} ${code}`);
  if (details !== undefined) lines.push(details);
  io.err(`${lines.join('\n')}\n`);
  return exitCode;
}

function unexpected(error: unknown, debug: boolean): OperatorError {
  const text = error instanceof Error ? error.message || error.name : String(error);
  const message = text.startsWith('BUG: ') ? text : `BUG or unexpected: ${text}`;
  const again = debug ? 'this output' : 'the output of the same command with --log-level debug';
  return new OperatorError('TAILMARK_INTERNAL', message, {
    hint: `Please report it to the project's issue tracker with ${again}.`,
    cause: error,
  });
}

function stackOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const stack = error.stack ?? String(error);
  const cause = stackOf(error.cause);
  return cause === undefined ? stack : `${stack}\ncaused by: ${cause}`;
}
