import type { Config } from '../../config/schema.ts';
import { type AnomalyEvent, anomalyEventSchema } from '../../contract/anomaly-event.ts';
import { openKafkaPublisher } from '../../kafka/client/kafka-publisher.ts';
import { ensureTopics } from '../../kafka/client/kafka-topics.ts';
import { followTopic } from '../../kafka/follow-topic.ts';
import type { LocalStack } from '../../local/stack/local-stack.ts';
import type { DemoConnection, DemoTransport } from './demo-transport.ts';

/** Partitions of the demo's topic. */
const PARTITIONS = 2;

/** Sends events to the topic of events, and reads anomalies from the topic of anomalies. */
export class KafkaTransport implements DemoTransport {
  readonly servers: LocalStack;
  readonly stdin: NodeJS.ReadableStream;
  readonly addresses: string;
  readonly settings: DemoTransport['settings'];
  readonly commands = [
    'bin/tailmark.js generate --fault slow_stage,stage=decode,model=llm,factor=3,for=2m --duration 5m',
  ];

  constructor(servers: LocalStack, stdin: NodeJS.ReadableStream) {
    const { brokers } = servers.kafka;
    this.servers = servers;
    this.stdin = stdin;
    this.addresses = `Kafka at ${brokers.join(',')}, ClickHouse at ${servers.clickhouse.url}`;
    this.settings = { kafka: { brokers, group_id: 'tailmark-demo' } };
  }

  async prepare({ kafka }: Config): Promise<void> {
    await ensureTopics(kafka, [{ topic: topicOf(kafka), partitions: PARTITIONS }]);
  }

  async connect(
    { kafka, alert }: Config,
    onAnomaly: (event: AnomalyEvent) => void,
  ): Promise<DemoConnection> {
    const followed = await followTopic(kafka, alert.topic, ({ value }) => {
      if (value !== null) onAnomaly(anomalyEventSchema.parse(JSON.parse(String(value))));
    });
    const publisher = await openKafkaPublisher(kafka).catch(async (error) => {
      await followed.stop();
      throw error;
    });
    return {
      send: (messages) => publisher.publish(topicOf(kafka), messages),
      close: async () => {
        await publisher.close();
        await followed.stop();
      },
    };
  }
}

function topicOf({ topics }: Config['kafka']): string {
  return topics[0] ?? '';
}
