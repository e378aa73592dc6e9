import { failedProbe, type ProbeFinding } from '../../base/probe-finding.ts';
import type { Config } from '../../config/schema.ts';
import { createKafkaClient, kafkaError } from './kafka-client.ts';
import { requireTopics } from './kafka-topics.ts';

/** Probes that Kafka responds, accepts the login and has the topics: one finding each. */
export async function probeKafka(config: Config): Promise<ProbeFinding[]> {
  const { kafka } = config;
  const brokers = kafka.brokers.join(', ');
  const admin = createKafkaClient(kafka, { retries: 1 }).admin();
  try {
    await admin.connect();
    const cluster = await admin.describeCluster();
    const findings: ProbeFinding[] = [
      { ok: true, what: 'Kafka', detail: `${cluster.brokers.length} broker(s) behind ${brokers}` },
    ];
    try {
      await requireTopics(kafka, kafka.topics);
      findings.push({ ok: true, what: 'Kafka topics', detail: kafka.topics.join(', ') });
    } catch (error) {
      findings.push(failedProbe('Kafka topics', kafkaError(error, 'read topics', kafka)));
    }
    return findings;
  } catch (error) {
    return [failedProbe('Kafka', kafkaError(error, 'reach Kafka', kafka))];
  } finally {
    await admin.disconnect().catch(() => undefined);
  }
}
