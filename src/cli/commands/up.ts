import { type ExitCode, exitCodes } from '../../base/exit-codes.ts';
import { configSchema } from '../../config/schema.ts';
import { timingTopic } from '../../config/topic-format.ts';
import { ensureTopics } from '../../kafka/client/kafka-topics.ts';
import { describeExit } from '../../local/process/start-failure.ts';
import { type LocalStack, localDefaultDir } from '../../local/stack/local-stack.ts';
import { migrate } from '../../sink/migrate/migrate.ts';
import type { Command } from '../command.ts';
import { port } from '../flag-values.ts';
import { aborted, type Io } from '../io.ts';
import { loadSettings } from '../load.ts';
import { startStack } from '../start-stack.ts';

const partNames = { kafka: 'Kafka', clickhouse: 'ClickHouse' } as const;

/** Partitions of a topic that `up` creates. */
const PARTITIONS = 4;

/** The local stack in the foreground, until a signal or until one of the two servers dies. */
export const up: Command = {
  flags: ['topic'],
  endsInOrder: true,
  help: `
Creates the topics of the configuration, if there is one, and those of the defaults otherwise.
Needs Java 17 or later and, the first time, Maven; docs/how-to/local-stack.md has the details.
Both servers stop when this command ends. The data is kept for the next start.

Examples:
  tailmark up
  tailmark up --fresh --kafka-port 9092 --clickhouse-port 8123
  tailmark up --json --dir /tmp/tailmark`,
  configure(command) {
    command
      .option('--dir <DIR>', 'directory for data, logs and ports', localDefaultDir)
      .option('--fresh', 'start empty: delete the data of earlier runs')
      .option('--kafka-port <PORT>', 'port of Kafka (default: the previous one, or a free one)')
      .option(
        '--clickhouse-port <PORT>',
        "port of ClickHouse's HTTP interface (default: as above)",
      );
  },
  async run(_args, options, io) {
    const dir = String(options.dir);
    const given = (await loadSettings(options, io)).config.kafka;
    let stack: LocalStack;
    try {
      const kafkaPort = port(options.kafkaPort, '--kafka-port');
      const clickhouseHttpPort = port(options.clickhousePort, '--clickhouse-port');
      const fresh = options.fresh === true;
      stack = await startStack({ dir, fresh, kafkaPort, clickhouseHttpPort }, io);
    } catch (error) {
      if (!io.signal.aborted) throw error;
      io.err('Interrupted before Kafka and ClickHouse were ready. Nothing is left running.\n');
      return exitCodes.failed;
    }
    try {
      await prepare(stack, given.topics);
      if (options.json === true) io.out(`${endpointsJson(stack)}\n`);
      else io.out(readyText(stack, dir, timingTopic(given) !== undefined));
      return await untilEnd(stack, io);
    } finally {
      await stack.stop();
    }
  },
};

/** Creates all that `run` requires: the tables and the topics. */
async function prepare(
  { kafka, clickhouse }: LocalStack,
  topics: readonly string[],
): Promise<void> {
  const config = configSchema.parse({
    kafka: { brokers: kafka.brokers },
    clickhouse: { url: clickhouse.url, database: clickhouse.database },
  });
  await migrate(config.clickhouse);
  const specs = topics.map((topic) => ({ topic, partitions: PARTITIONS }));
  await ensureTopics(config.kafka, specs);
}

async function untilEnd(stack: LocalStack, io: Io): Promise<ExitCode> {
  const exit = await Promise.race([stack.exited, aborted(io.signal)]);
  if (exit === undefined || io.signal.aborted) {
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

function endpointsJson({ kafka, clickhouse }: LocalStack): string {
  const { url, database, pid } = clickhouse;
  return JSON.stringify({ kafka, clickhouse: { url, database, pid } });
}

/** @param takesTraffic whether a topic takes the timing events of `generate`. */
function readyText(stack: LocalStack, dir: string, takesTraffic: boolean): string {
  const brokers = stack.kafka.brokers.join(',');
  const { url, database } = stack.clickhouse;
  const generate = takesTraffic ? '  tailmark generate    # realistic traffic\n' : '';
  return `
Kafka       ${brokers}
ClickHouse  ${url}  (database ${database})
Data        ${stack.dir}

In another terminal:

  export TAILMARK_KAFKA_BROKERS=${brokers}
  export TAILMARK_CLICKHOUSE_URL=${url}

  tailmark run         # read events, find anomalies; from a checkout: bin/tailmark.js run
${generate}  tailmark tails       # percentiles by stage

Ctrl-C stops both. The data is kept; \`tailmark up${dir === localDefaultDir ? '' : ` --dir ${dir}`} --fresh\` starts empty.
`;
}
