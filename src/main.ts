import { CommanderError } from 'commander';
import { type ExitCode, exitCodes } from './base/exit-codes.ts';
import { OperatorError } from './base/operator-error.ts';
import { knownSecrets } from './base/telemetry/known-secrets.ts';
import { createIo } from './cli/create-io.ts';
import type { Io } from './cli/io.ts';
import { createProgram } from './cli/program/create-program.ts';
import { printError } from './cli/text/print-error.ts';

/**
 * Runs one command line, `argv` without node and script, and gives its exit code; throws nothing.
 * Without an Io it binds the process's own streams and signals.
 */
export async function main(argv: readonly string[], io?: Io): Promise<ExitCode> {
  if (io !== undefined) return runCommand(argv, withoutSecrets(io));
  const own = createIo();
  const ownIo = withoutSecrets(own.io);
  const onUncaught = (error: unknown) => {
    process.exit(printError(error, ownIo, errorOptions(argv, ownIo)));
  };
  process.on('uncaughtException', onUncaught);
  try {
    const exitCode = await runCommand(argv, ownIo);
    await own.finish();
    const ending = own.isPipeClosed() ? exitCodes.ok : exitCode;
    // The command's work is not over, and would keep the process alive.
    if (exitCode === exitCodes.interrupted) process.exit(ending);
    return ending;
  } finally {
    process.off('uncaughtException', onUncaught);
  }
}

/** Whatever a command prints, a secret it was given is not in it. */
function withoutSecrets(io: Io): Io {
  return {
    ...io,
    out: (text) => io.out(knownSecrets.hide(text)),
    err: (text) => io.err(knownSecrets.hide(text)),
  };
}

async function runCommand(argv: readonly string[], io: Io): Promise<ExitCode> {
  try {
    const program = await createProgram(argv, io);
    if (wantsShortHelp(argv)) {
      io.out(program.target.helpInformation());
      return exitCodes.ok;
    }
    return (await program.run()) ?? exitCodes.ok;
  } catch (error) {
    if (!(error instanceof CommanderError)) return printError(error, io, errorOptions(argv, io));
    if (error.exitCode === 0) return exitCodes.ok;
    // Help for want of a command is on standard error already.
    if (error.code === 'commander.help') return exitCodes.usage;
    return printError(usageError(error), io, errorOptions(argv, io));
  }
}

/** commander's text is `error: what\n(Did you mean x?)`; an option it does not know, as it was given. */
function usageError({ message }: CommanderError): OperatorError {
  const [given = '', suggestion] = message.replace(/^error: /, '').split('\n');
  const what = given.replace(/^(unknown option '[^=]*=).*'$/s, "$1…'");
  return new OperatorError('TAILMARK_USAGE', what, {
    hint: suggestion?.replace(/^\((.*)\)$/, '$1') ?? 'Try --help.',
  });
}

/** Read from argv itself, as an error may come before it is parsed. */
function errorOptions(argv: readonly string[], io: Io): { json: boolean; debug: boolean } {
  const at = argv.findIndex((word) => word === '--log-level' || word.startsWith('--log-level='));
  const given = argv[at]?.includes('=') ? argv[at].split('=')[1] : argv[at + 1];
  const level = at < 0 ? io.env.TAILMARK_LOG_LEVEL : given;
  return { json: argv.includes('--json'), debug: level === 'debug' || level === 'trace' };
}

function wantsShortHelp(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return (end < 0 ? argv : argv.slice(0, end)).includes('-h');
}
