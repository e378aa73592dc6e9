import { setTimeout as sleep } from 'node:timers/promises';
import type { Admin } from 'kafkajs';
import { OperatorError } from '../../base/operator-error.ts';
import type { Config } from '../../config/schema.ts';
import { brokerErrorType } from '../broker-error-type.ts';
import { createKafkaClient, kafkaError } from './kafka-client.ts';

export interface TopicSpec {
  readonly topic: string;
  /** @default {1} */
  readonly partitions?: number;
  /** @default {{}} */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Runs `action` with an admin client. Short limits report soon a port that is no broker's. */
async function withAdmin<T>(
  config: Config['kafka'],
  doing: string,
  action: (admin: Admin) => Promise<T>,
): Promise<T> {
  const admin = createKafkaClient(config, { retries: 3, requestTimeoutMs: 10_000 }).admin();
  try {
    await admin.connect();
    return await action(admin);
  } catch (error) {
    throw kafkaError(error, doing, config);
  } finally {
    await admin.disconnect().catch(() => undefined);
  }
}

/**
 * Creates the topics that are missing and leaves the others unchanged.
 *
 * @returns the names of the topics it created.
 * @throws OperatorError when the cluster cannot be reached or rejects the request.
 */
export async function ensureTopics(
  config: Config['kafka'],
  specs: readonly TopicSpec[],
): Promise<string[]> {
  return withAdmin(config, 'create topics', async (admin) => {
    const present = new Set(await admin.listTopics());
    const missing = specs.filter(({ topic }) => !present.has(topic));
    if (missing.length === 0) return [];
    await admin.createTopics({
      // kafkajs fails when a broker does not know the topic yet, so awaitLeaders waits instead.
      waitForLeaders: false,
      topics: missing.map(({ topic, partitions = 1, settings = {} }) => ({
        topic,
        numPartitions: partitions,
        configEntries: Object.entries(settings).map(([name, value]) => ({ name, value })),
      })),
    });
    const created = missing.map(({ topic }) => topic);
    await awaitLeaders(admin, created);
    return created;
  });
}

/** Errors that brokers return while a new topic propagates. */
const transientErrors = new Set([
  'UNKNOWN_TOPIC_OR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_FOR_PARTITION',
]);
const LEADER_ATTEMPTS = 100;
const BETWEEN_ATTEMPTS_MS = 100;

/** Resolves when every partition has a leader that answers as one, or throws after about 10 s. */
async function awaitLeaders(admin: Admin, topics: readonly string[]): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      // A broker may know of its leadership from the metadata before it acts on it.
      for (const topic of topics) await admin.fetchTopicOffsets(topic);
      return;
    } catch (error) {
      if (!isTransient(error) || attempt === LEADER_ATTEMPTS) throw error;
    }
    await sleep(BETWEEN_ATTEMPTS_MS);
  }
}

function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return transientErrors.has(brokerErrorType(error) ?? '') || isTransient(error.cause);
}

/** Topics that a setting names. */
export interface NamedTopics {
  /** Such as `kafka.topics`. */
  readonly setting: string;
  readonly topics: readonly string[];
}

/**
 * Checks that the topics of each setting exist.
 *
 * @throws OperatorError that names the missing topics, or the reason why the cluster does not respond.
 */
export async function requireTopics(
  config: Config['kafka'],
  required: readonly NamedTopics[],
): Promise<void> {
  const listed = await withAdmin(config, 'read from Kafka', (admin) => admin.listTopics());
  const present = new Set(listed);
  for (const { setting, topics } of required) {
    const missing = topics.filter((topic) => !present.has(topic));
    if (missing.length > 0) throw topicsMissing(setting, missing);
  }
}

/** @param missing topics that the setting names; at least one. */
export function topicsMissing(setting: string, missing: readonly string[]): OperatorError {
  const variable = `TAILMARK_${setting.replace('.', '_').toUpperCase()}`;
  return new OperatorError(
    'TAILMARK_KAFKA_TOPIC_MISSING',
    `Cannot read from Kafka: every topic of ${setting} must exist; missing: ${missing.join(', ')}`,
    {
      hint: `Create it (kafka-topics.sh --create --topic ${missing[0]}), or correct ${setting} or ${variable}.`,
    },
  );
}
