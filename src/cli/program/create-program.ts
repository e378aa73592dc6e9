import { Command as Commander, Option } from 'commander';
import { type ExitCode, exitCodes } from '../../base/exit-codes.ts';
import { version } from '../../base/telemetry/version.ts';
import { aborted, type Io } from '../io.ts';
import { addConfigFlags } from '../load.ts';
import { colorsOf } from '../text/colors.ts';
import { commands } from './commands.ts';

export interface Program {
  readonly commander: Commander;
  /** The called command, configured; the program itself without one. */
  readonly target: Commander;
  /** Runs it. @throws {CommanderError} for usage, help and version; else the command's errors */
  run(): Promise<ExitCode | undefined>;
}

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];

/** Builds the command line for commander. Only the called command is loaded. */
export async function createProgram(argv: readonly string[], io: Io): Promise<Program> {
  const called = commandOf(argv, io);
  const calledCommand = await commands.find(({ name }) => name === called)?.load();
  const commander = bare(io, calledCommand?.ownsVersion !== true);
  let exitCode: ExitCode | undefined;
  let target = commander;
  for (const listed of commands) {
    const command = commander.command(listed.name).summary(listed.summary);
    command.description(`${listed.summary[0]?.toUpperCase()}${listed.summary.slice(1)}.`);
    if (listed.name !== called || calledCommand === undefined) continue;
    target = command;
    const loaded = calledCommand;
    addConfigFlags(command, loaded.flags ?? []);
    loaded.configure?.(command);
    command.addHelpText('after', loaded.help);
    command.action(async () => {
      const running = loaded.run(command.args, command.optsWithGlobals(), io);
      exitCode = await (loaded.endsInOrder ? running : Promise.race([running, interruptedBy(io)]));
    });
  }
  return {
    commander,
    target,
    run: async () => {
      await commander.parseAsync([...argv], { from: 'user' });
      return exitCode;
    },
  };
}

async function interruptedBy({ signal }: Io): Promise<ExitCode> {
  await aborted(signal);
  return exitCodes.interrupted;
}

/** @param hasVersion false if `--version` is an option of the called command */
function bare(io: Io, hasVersion: boolean): Commander {
  const width = io.columnCount ?? 100;
  const commander = new Commander('tailmark').description(
    'Latency tails of ML inference, from Kafka to the pager.',
  );
  if (hasVersion) commander.version(version(), '--version', 'print the version');
  commander
    .helpOption('-h, --help', 'print help; -h omits the examples')
    .helpCommand('help [command]', 'print help for a command')
    .addOption(new Option('--config <FILE>', 'configuration file (or TAILMARK_CONFIG)'))
    .addOption(new Option('--json', 'print results as JSON, and errors too'))
    .addOption(new Option('--log-level <LEVEL>', 'minimum log level (log.level)').choices(levels))
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.out(text),
      writeErr: (text) => io.err(text),
      // Usage errors are thrown, and printed like all other errors.
      outputError: () => {},
      getOutHelpWidth: () => width,
      getErrHelpWidth: () => width,
      getOutHasColors: () => io.color,
      getErrHasColors: () => io.color,
    })
    .configureHelp({
      showGlobalOptions: true,
      styleTitle: colorsOf(io).bold,
    });
  return commander.addHelpText(
    'after',
    `
Examples:
  tailmark demo                       everything on this machine, with an injected regression
  tailmark check --connect            validate the configuration and the servers
  tailmark run --config tailmark.yaml read events, keep tails, raise anomalies
  tailmark tails --json | jq .        current tails

Exit codes: 0 success, 1 failed, 2 anomalies or a failed verdict, 64 usage, 69 unavailable,
70 internal, 78 configuration. Documentation: docs/reference/cli.md, docs/reference/configuration.md.`,
  );
}

/** Finds the command in argv, past global options; in `help X` it is X. */
function commandOf(argv: readonly string[], io: Io): string | undefined {
  const { operands } = bare(io, false).parseOptions([...argv]);
  return operands[0] === 'help' ? operands[1] : operands[0];
}
