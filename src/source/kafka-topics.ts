import { exitCodes } from '../base/exit-codes.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { Config } from '../config/schema.ts';
import { createKafkaClient, kafkaError } from './kafka-client.ts';

/** A topic to be there. */
export interface TopicSpec {
  readonly topic: string;
  /** @default {1} */
  readonly partitions?: number;
  /** @default {{}} */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Something that accepts connections and is no broker must be told soon. */
const asking = { retries: 3, requestTimeoutMs: 10_000 };

/**
 * Creates the topics that are missing and leaves the others as they are.
 *
 * @returns the names of those it created.
 * @throws OperatorError when the cluster cannot be reached or refuses.
 */
export async function ensureTopics(
  config: Config['kafka'],
  specs: readonly TopicSpec[],
): Promise<string[]> {
  const admin = createKafkaClient(config, asking).admin();
  try {
    await admin.connect();
    const present = new Set(await admin.listTopics());
    const missing = specs.filter((spec) => !present.has(spec.topic));
    if (missing.length === 0) return [];
    await admin.createTopics({
      waitForLeaders: true,
      topics: missing.map((spec) => ({
        topic: spec.topic,
        numPartitions: spec.partitions ?? 1,
        configEntries: Object.entries(spec.settings ?? {}).map(([name, value]) => ({
          name,
          value,
        })),
      })),
    });
    return missing.map((spec) => spec.topic);
  } catch (error) {
    throw kafkaError(error, 'create topics', config);
  } finally {
    await admin.disconnect().catch(() => undefined);
  }
}

/**
 * Checks that the topics exist.
 *
 * @throws OperatorError naming those that do not, or why the cluster cannot be asked.
 */
export async function requireTopics(
  config: Config['kafka'],
  topics: readonly string[],
): Promise<void> {
  const admin = createKafkaClient(config, asking).admin();
  let present: Set<string>;
  try {
    await admin.connect();
    present = new Set(await admin.listTopics());
  } catch (error) {
    throw kafkaError(error, 'read from Kafka', config);
  } finally {
    await admin.disconnect().catch(() => undefined);
  }
  const missing = topics.filter((topic) => !present.has(topic));
  if (missing.length === 0) return;
  throw new OperatorError(
    'TAILMARK_KAFKA_TOPIC_MISSING',
    `Cannot read from Kafka as every topic of kafka.topics must exist: ${missing.join(', ')} does not`,
    {
      hint: `Create it (kafka-topics.sh --create --topic ${missing[0]}), or correct kafka.topics or TAILMARK_KAFKA_TOPICS.`,
      exitCode: exitCodes.unavailable,
    },
  );
}
