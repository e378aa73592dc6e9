import type { Admin, Producer } from 'kafkajs';
import { failedProbe, type ProbeFinding } from '../../base/probe-finding.ts';
import type { Config } from '../../config/schema.ts';
import { brokerErrorType } from '../broker-error-type.ts';
import { createKafkaClient, kafkaError, rootOf } from './kafka-client.ts';
import { type NamedTopics, requireTopics, type TopicSpec } from './kafka-topics.ts';

/**
 * Probes that Kafka responds, accepts the login, has the topics and accepts writes: one finding each.
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
  const admin = createKafkaClient(kafka, { retries: 1 }).admin();
  try {
    await admin.connect();
    const cluster = await admin.describeCluster();
    const findings: ProbeFinding[] = [
      { ok: true, what: 'Kafka', detail: `${cluster.brokers.length} broker(s) behind ${brokers}` },
    ];
    try {
      await requireTopics(kafka, required);
      const names = new Set(required.flatMap(({ topics }) => topics));
      findings.push({ ok: true, what: 'Kafka topics', detail: [...names].join(', ') });
    } catch (error) {
      findings.push(failedProbe('Kafka topics', kafkaError(error, 'read topics', kafka)));
    }
    if (written.length > 0) findings.push(await probeWrites(admin, kafka, written));
    return findings;
  } catch (error) {
    return [failedProbe('Kafka', kafkaError(error, 'reach Kafka', kafka))];
  } finally {
    await admin.disconnect().catch(() => undefined);
  }
}

/** Brokers reject it after they have checked the right to write, and append nothing. */
const INVALID_ACKS = 2;

/** Asks whether each topic may be written to, or created. Leaves nothing. */
async function probeWrites(
  admin: Admin,
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
    const present = new Set(await admin.listTopics());
    for (const { topic } of written) {
      tried = topic;
      const isAbsent = !present.has(topic) && (await mayBeCreated(admin, topic));
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
function mayBeCreated(admin: Admin, topic: string): Promise<boolean> {
  return admin.createTopics({ validateOnly: true, waitForLeaders: false, topics: [{ topic }] });
}

async function requireWritable(producer: Producer, topic: string): Promise<void> {
  try {
    await producer.send({ topic, acks: INVALID_ACKS, messages: [{ value: null }] });
  } catch (error) {
    if (brokerErrorType(rootOf(error)) !== 'INVALID_REQUIRED_ACKS') throw error;
  }
}
