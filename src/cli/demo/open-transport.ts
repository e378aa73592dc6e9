import { OperatorError } from '../../base/operator-error.ts';
import { javaRemedy } from '../../local/kafka/java-runtime.ts';
import { findKafkaPrograms } from '../../local/kafka/kafka-jars.ts';
import type { Io } from '../io.ts';
import { startClickHouseAlone, startStack } from '../start-stack.ts';
import type { DemoTransport } from './demo-transport.ts';
import { DirectTransport } from './direct-transport.ts';
import { KafkaTransport } from './kafka-transport.ts';

/**
 * Starts the servers of the demo: Kafka and ClickHouse, or ClickHouse alone where the programs for Kafka are
 * missing. A Kafka that fails for any other reason is an error.
 *
 * @throws OperatorError as `startLocalStack`, but for a missing Java
 */
export async function openTransport(dir: string, io: Io): Promise<DemoTransport> {
  const options = { dir, fresh: true };
  const missing = await missingForKafka(io.env);
  if (missing === undefined) return new KafkaTransport(await startStack(options, io), io.stdin);
  io.err(
    `${missing.message}. The demo runs without Kafka: its events go straight into the pipeline.\n` +
      `hint: ${javaRemedy}\n`,
  );
  return new DirectTransport(await startClickHouseAlone(options, io), io.signal);
}

async function missingForKafka(env: Io['env']): Promise<OperatorError | undefined> {
  try {
    await findKafkaPrograms(env);
    return undefined;
  } catch (error) {
    const isMissing =
      error instanceof OperatorError && error.code === 'TAILMARK_LOCAL_JAVA_MISSING';
    if (isMissing) return error;
    throw error;
  }
}
