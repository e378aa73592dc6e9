import type { ITopicConfig } from 'kafkajs';
import { systemClock } from '../../base/clock.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { retry } from '../../base/retry.ts';
import type { Config } from '../../config/schema.ts';
import { brokerErrorType } from '../errors/broker-error.ts';
import { KafkaAdmin } from './kafka-admin.ts';

export interface TopicSpec {
  readonly topic: string;
  /** @default {1} */
  readonly partitions?: number;
  /** @default {{}} */
  readonly settings?: Readonly<Record<string, string>>;
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
  return KafkaAdmin.use(config, 'create topics', async (admin) => {
    const names = specs.map(({ topic }) => topic);
    const { topics, brokerCount } = await admin.describe(names);
    const missing = specs.filter(({ topic }) => !topics.has(topic));
    if (missing.length === 0) return [];
    await admin.client.createTopics({
      // kafkajs fails when a broker does not know the topic yet, so awaitLeaders waits instead.
      waitForLeaders: false,
      topics: missing.map((spec) => newTopic(config, spec, brokerCount)),
    });
    const created = missing.map(({ topic }) => topic);
    await awaitLeaders(admin, created);
    return created;
  });
}

/** Copies of a topic that is created, where the configuration does not say how many. */
const REPLICAS = 3;

/** A topic as it is created. @param brokerCount brokers that are up: a topic has at most one copy on each. */
export function newTopic(
  config: Pick<Config['kafka'], 'replication_factor'>,
  { topic, partitions = 1, settings = {} }: TopicSpec,
  brokerCount: number,
): ITopicConfig {
  return {
    topic,
    numPartitions: partitions,
    replicationFactor: config.replication_factor ?? Math.max(1, Math.min(REPLICAS, brokerCount)),
    configEntries: Object.entries(settings).map(([name, value]) => ({ name, value })),
  };
}

/** Errors that brokers return while a new topic propagates. */
const transientErrors = new Set([
  'UNKNOWN_TOPIC_OR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_FOR_PARTITION',
]);

/** Resolves when every partition has a leader that answers as one, or throws after about 10 s. */
async function awaitLeaders(admin: KafkaAdmin, topics: readonly string[]): Promise<void> {
  const areLed = async () => {
    // A broker may know of its leadership from the metadata before it acts on it.
    const found = await Promise.all(topics.map((topic) => admin.rangesOfAll(topic)));
    return found.every((ranges) => ranges.length > 0) ? true : undefined;
  };
  await retry(areLed, {
    ...{ clock: systemClock, firstMs: 100, longestMs: 100, attempts: 100 },
    onError: (error) => {
      if (!isTransient(error)) throw error;
    },
  });
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
  const names = required.flatMap(({ topics }) => topics);
  const described = await KafkaAdmin.use(config, 'read from Kafka', (admin) =>
    admin.describe(names),
  );
  for (const { setting, topics } of required) {
    const missing = topics.filter((topic) => !described.topics.has(topic));
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
