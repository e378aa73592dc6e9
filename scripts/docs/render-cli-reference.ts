import { Readable } from 'node:stream';
import { type ExitCode, exitCodes } from '../../src/base/exit-codes.ts';
import type { Io } from '../../src/cli/io.ts';
import { commands } from '../../src/cli/program/commands.ts';
import { createProgram } from '../../src/cli/program/create-program.ts';

const meanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: 'Fine. Also when the reader of standard output has gone (`tailmark tails | head`).',
  failed:
    'The command did not complete, `check` or `doctor` found something wrong, `verify` nothing stored, or no request has a given name (`tails`, `anomalies`).',
  found:
    '`anomalies`, `explain`, `backtest` or `verify` found something, or `compare` failed: for scripts that ask.',
  usage: 'The command line is wrong: an unknown command or option, a missing argument.',
  unavailable: 'Kafka, ClickHouse or a part of the local stack does not respond or is missing.',
  internal: 'A bug of tailmark. `--log-level debug` adds the stack; please report it.',
  config: 'The configuration is wrong or cannot be read; every problem is shown at once.',
  interrupted:
    'A signal ended a command that only reads. Others finish their work, and exit with 0.',
};

const intro = `<!-- Made from the commands by \`npm run generate:docs\`: change it there. -->
# Command line

Results go to standard output, everything else (logs, progress, errors) to standard error. So
\`tailmark … --json | jq\` always works. \`--help\` prints a command's options and examples, \`-h\` only
its options. For a mistyped command or option the likely one is shown.

- \`--config FILE\`, \`--json\` and \`--log-level LEVEL\` work with every command, before or after its name.
- Flags such as \`--brokers\` set one key of the configuration, over the environment and the file: see
  [configuration.md](configuration.md).
- Colours are on in a terminal. \`NO_COLOR\`, \`TERM=dumb\` and a pipe turn them off, \`FORCE_COLOR\` on.
- The first SIGINT or SIGTERM lets a command finish what it has begun; a second SIGINT ends it at once.

An error has three lines: \`error:\` says what is wrong, \`hint:\` what to do, and \`code:\` is a stable
name that [errors.md](errors.md) explains. With \`--json\` they are one line of JSON on standard error:
\`{"error":{"code":…,"message":…,"hint":…}}\`, with \`problems\` beside them for the configuration.

## Exit codes

| code | name | meaning |
|---|---|---|
`;

/** docs/reference/cli.md: exit codes, and what `--help` prints for every command. */
export async function renderCliReference(): Promise<string> {
  const rows = (Object.entries(exitCodes) as [keyof typeof exitCodes, ExitCode][]).map(
    ([name, code]) => `| ${code} | ${name} | ${meanings[name]} |`,
  );
  rows.push('| 130 | | A second SIGINT ended it at once. |');
  const sections = await Promise.all(commands.map(async ({ name }) => section(name)));
  return `${intro}${rows.join('\n')}\n\n${sections.join('\n')}`;
}

async function section(name: string): Promise<string> {
  let text = '';
  const { target } = await createProgram(
    [name],
    plainIo((written) => {
      text += written;
    }),
  );
  target.configureHelp({ showGlobalOptions: false }).outputHelp();
  return `## tailmark ${name}\n\n\`\`\`text\n${text.trimEnd()}\n\`\`\`\n`;
}

function plainIo(out: (text: string) => void): Io {
  return {
    out,
    err: () => {},
    stdin: Readable.from([]),
    env: {},
    isErrTty: false,
    color: false,
    signal: new AbortController().signal,
  };
}
