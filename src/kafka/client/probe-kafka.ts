import type { Admin, ITopicConfig, Producer } from 'kafkajs';
import { OperatorError } from '../../base/operator-error.ts';
import { failedProbe, type ProbeFinding } from '../../base/probe-finding.ts';
import type { Config } from '../../config/schema.ts';
import { brokerErrorType } from '../errors/broker-error.ts';
import { type DescribedTopic, type DescribedTopics, KafkaAdmin } from './kafka-admin.ts';
import { createKafkaClient, kafkaError, rootOf } from './kafka-client.ts';
import { type NamedTopics, newTopic, requireTopics, type TopicSpec } from './kafka-topics.ts';

/**
 * Probes that Kafka responds, accepts the login, has the topics and accepts writes: a finding each. Each
 * topic that is broken or has a single replica is a finding too.
 *
 * @param required topics that must exist.
 * @param written topics that are written to, and created where they are missing. @default none
 */
export async function probeKafka(
  { kafka }: Pick<Config, 'kafka'>,
  required: readonly NamedTopics[],
  written: readonly TopicSpec[] = [],
): Promise<ProbeFinding[]> {
  const brokers = kafka.brokers.join(', ');
  const admin = new KafkaAdmin(createKafkaClient(kafka, { retries: 1 }));
  try {
    await admin.client.connect();
    const names = required.flatMap(({ topics }) => topics);
    const ours = [...names, ...written.map(({ topic }) => topic)];
    const described = await admin.describe(ours);
    const { brokerCount } = described;
    const findings: ProbeFinding[] = [
      { ok: true, what: 'Kafka', detail: `${brokerCount} broker(s) behind ${brokers}` },
    ];
    try {
      await requireTopics(kafka, required);
      const detail = [...new Set(names)].join(', ');
      findings.push({ ok: true, what: 'Kafka topics', detail });
    } catch (error) {
      findings.push(failedProbe('Kafka topics', kafkaError(error, 'read topics', kafka)));
    }
    findings.push(
      ...[...described.topics.values()].flatMap((topic) => examine(topic, brokerCount)),
    );
    if (written.length > 0) findings.push(await probeWrites(admin, described, kafka, written));
    return findings;
  } catch (error) {
    return [failedProbe('Kafka', kafkaError(error, 'reach Kafka', kafka))];
  } finally {
    await admin.close();
  }
}

/** Faults of a topic that exists. */
function examine(topic: DescribedTopic, brokerCount: number): ProbeFinding[] {
  const what = `Kafka topic ${topic.topic}`;
  // No record of theirs can be read or written.
  const without = topic.partitions
    .filter(({ leader }) => leader < 0)
    .map(({ partitionId }) => partitionId);
  if (without.length > 0) {
    const detail = `partition ${without.join(', ')} must have a leader; its replicas are on brokers that are down`;
    const hint =
      'Start the brokers that have its replicas (kafka-topics.sh --describe names them).';
    const message = `Cannot read topic ${topic.topic}: ${detail}`;
    const error = new OperatorError('TAILMARK_KAFKA_UNREACHABLE', message, { hint });
    return [{ ok: false, what, detail, hint, error }];
  }
  if (brokerCount < 2 || topic.partitions.every(({ replicas }) => replicas.length > 1)) return [];
  return [
    {
      ...{ ok: true, isWarning: true, what },
      detail: `has a single replica, and the cluster has ${brokerCount} brokers: it is gone while one of them is`,
      hint: 'Add replicas (kafka-reassign-partitions.sh). kafka.replication_factor is for topics that tailmark creates.',
    },
  ];
}

/** Brokers reject it after they have checked the right to write, and append nothing. */
const INVALID_ACKS = 2;

/** Asks whether each topic may be written to, or created. Leaves nothing. */
async function probeWrites(
  admin: KafkaAdmin,
  { topics, brokerCount }: DescribedTopics,
  kafka: Config['kafka'],
  written: readonly TopicSpec[],
): Promise<ProbeFinding> {
  const what = 'Kafka writes';
  const producer = createKafkaClient(kafka, { retries: 1 }).producer({
    allowAutoTopicCreation: false,
  });
  let tried = '';
  try {
    await producer.connect();
    for (const spec of written) {
      const { topic } = spec;
      tried = topic;
      const isAbsent =
        !topics.has(topic) &&
        (await mayBeCreated(admin.client, newTopic(kafka, spec, brokerCount)));
      if (!isAbsent) await requireWritable(producer, topic);
    }
    return { ok: true, what, detail: written.map(({ topic }) => topic).join(', ') };
  } catch (error) {
    return failedProbe(what, kafkaError(error, `write to topic ${tried}`, kafka));
  } finally {
    await producer.disconnect().catch(() => undefined);
  }
}

/** False where the topic exists and is hidden. @throws where it must not be created. */
function mayBeCreated(admin: Admin, topic: ITopicConfig): Promise<boolean> {
  return admin.createTopics({ validateOnly: true, waitForLeaders: false, topics: [topic] });
}

async function requireWritable(producer: Producer, topic: string): Promise<void> {
  try {
    await producer.send({ topic, acks: INVALID_ACKS, messages: [{ value: null }] });
  } catch (error) {
    if (brokerErrorType(rootOf(error)) !== 'INVALID_REQUIRED_ACKS') throw error;
  }
}
