import type { Command as Commander } from 'commander';
import { type ExitCode, exitCodes } from '../../base/exit-codes.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { type LocalStack, localDefaultDir, startLocalStack } from '../../local/local-stack.ts';
import { describeExit } from '../../local/start-failure.ts';
import type { Command } from '../command.ts';
import type { Io } from '../io.ts';
import { LocalProgressLines } from '../text/local-progress-lines.ts';

export interface UpOptions {
  /** Runs when both servers respond and before `up` reports them: the migrations, for example. */
  readonly prepare?: (stack: LocalStack, io: Io) => Promise<void>;
}

const partNames = { kafka: 'Kafka', clickhouse: 'ClickHouse' } as const;

/** `tailmark up`: the local stack in the foreground, until a signal or until one of the two dies. */
export function createUpCommand({ prepare }: UpOptions = {}): Command {
  return {
    name: 'up',
    summary: 'run a local Kafka and ClickHouse in the foreground, without Docker',
    configure,
    run: async (_args, options, io) => run(options, io, prepare),
  };
}

function configure(command: Commander): void {
  command
    .option('--dir <DIR>', 'directory for data, logs and ports', localDefaultDir)
    .option('--fresh', 'start empty: delete the data of earlier runs')
    .option('--kafka-port <PORT>', 'port of Kafka (default: the previous one, or a free one)')
    .option('--clickhouse-port <PORT>', "port of ClickHouse's HTTP interface (default: as above)")
    .addHelpText(
      'after',
      `
Needs Java 17 or later and, the first time, Maven; docs/how-to/local-stack.md has the details.
Both servers stop when this command ends. The data is kept for the next start.

Examples:
  tailmark up
  tailmark up --fresh --kafka-port 9092 --clickhouse-port 8123
  tailmark up --json --dir /tmp/tailmark`,
    );
}

async function run(
  options: Readonly<Record<string, unknown>>,
  io: Io,
  prepare: UpOptions['prepare'],
): Promise<ExitCode> {
  const progress = new LocalProgressLines(io);
  const dir = typeof options.dir === 'string' ? options.dir : localDefaultDir;
  let stack: LocalStack;
  try {
    stack = await startLocalStack({
      dir,
      fresh: options.fresh === true,
      kafkaPort: port(options.kafkaPort, '--kafka-port'),
      clickhouseHttpPort: port(options.clickhousePort, '--clickhouse-port'),
      env: io.env,
      onProgress: (step) => progress.show(step),
      signal: io.signal,
    });
  } catch (error) {
    progress.end();
    if (!io.signal.aborted) throw error;
    io.err('Interrupted before Kafka and ClickHouse were ready. Nothing is left running.\n');
    return exitCodes.failed;
  }
  progress.end();
  try {
    await prepare?.(stack, io);
    if (options.json === true) io.out(`${endpointsJson(stack)}\n`);
    else io.out(readyText(stack, dir));
    return await untilEnd(stack, io);
  } finally {
    await stack.stop();
  }
}

async function untilEnd(stack: LocalStack, io: Io): Promise<ExitCode> {
  const exit = await Promise.race([stack.exited, aborted(io.signal)]);
  if (exit === null || io.signal.aborted) {
    io.err('Stopping Kafka and ClickHouse.\n');
    return exitCodes.ok;
  }
  const [name, other] =
    exit.part === 'kafka'
      ? [partNames.kafka, partNames.clickhouse]
      : [partNames.clickhouse, partNames.kafka];
  io.err(
    `${name} ${describeExit(exit)}, unexpectedly; stopping ${other} as well. ` +
      `Its logs: ${stack.dir}/${exit.part}\n`,
  );
  return exitCodes.unavailable;
}

function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener('abort', () => resolve(null), { once: true });
  });
}

function endpointsJson({ kafka, clickhouse }: LocalStack): string {
  const { url, database, pid } = clickhouse;
  return JSON.stringify({ kafka, clickhouse: { url, database, pid } });
}

function readyText(stack: LocalStack, dir: string): string {
  const brokers = stack.kafka.brokers.join(',');
  const { url, database } = stack.clickhouse;
  return `
Kafka       ${brokers}
ClickHouse  ${url}  (database ${database})
Data        ${stack.dir}

In another terminal:

  export TAILMARK_KAFKA_BROKERS=${brokers}
  export TAILMARK_CLICKHOUSE_URL=${url}

  tailmark run         # read events, find anomalies; from a checkout: bin/tailmark.js run
  tailmark generate    # realistic traffic
  tailmark tails       # percentiles by stage

Ctrl-C stops both. The data is kept; \`tailmark up${dir === localDefaultDir ? '' : ` --dir ${dir}`} --fresh\` starts empty.
`;
}

function port(value: unknown, flag: string): number | undefined {
  if (value === undefined) return undefined;
  const text = String(value);
  const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= 1 && number <= 65_535) return number;
  throw new OperatorError(
    'TAILMARK_USAGE',
    `Cannot listen as ${flag} must be a port from 1 to 65535: it is ${text}`,
    { hint: `Leave ${flag} out to get a free port.` },
  );
}
