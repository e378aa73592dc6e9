import { setTimeout as sleep } from 'node:timers/promises';
import type { Admin } from 'kafkajs';
import { exitCodes } from '../../base/exit-codes.ts';
import { OperatorError } from '../../base/operator-error.ts';
import type { Config } from '../../config/schema.ts';
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
      // kafkajs gives up where a broker has not heard of the topic yet: we wait ourselves.
      waitForLeaders: false,
      topics: missing.map((spec) => ({
        topic: spec.topic,
        numPartitions: spec.partitions ?? 1,
        configEntries: Object.entries(spec.settings ?? {}).map(([name, value]) => ({
          name,
          value,
        })),
      })),
    });
    const created = missing.map((spec) => spec.topic);
    await awaitLeaders(admin, created);
    return created;
  } catch (error) {
    throw kafkaError(error, 'create topics', config);
  } finally {
    await admin.disconnect().catch(() => undefined);
  }
}

/** Answers about a topic that the brokers are still making known to each other. */
const soonOver = new Set(['UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE']);
const LEADER_ATTEMPTS = 100;
const BETWEEN_ATTEMPTS_MS = 100;

/** Resolves when every partition has a leader; for 10 seconds and some it may have none. */
async function awaitLeaders(admin: Admin, topics: string[]): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      const known = await admin.fetchTopicMetadata({ topics });
      if (known.topics.every(({ partitions }) => partitions.every(({ leader }) => leader >= 0))) {
        return;
      }
    } catch (error) {
      if (!isSoonOver(error) || attempt === LEADER_ATTEMPTS) throw error;
    }
    if (attempt === LEADER_ATTEMPTS) return;
    await sleep(BETWEEN_ATTEMPTS_MS);
  }
}

function isSoonOver(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('type' in error && soonOver.has(String(error.type))) || isSoonOver(error.cause);
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
    `Cannot read from Kafka: every topic of kafka.topics must exist; missing: ${missing.join(', ')}`,
    {
      hint: `Create it (kafka-topics.sh --create --topic ${missing[0]}), or correct kafka.topics or TAILMARK_KAFKA_TOPICS.`,
      exitCode: exitCodes.unavailable,
    },
  );
}
