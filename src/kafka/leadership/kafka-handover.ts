import type { Consumer, Kafka } from 'kafkajs';
import { KafkaAdmin } from '../client/kafka-admin.ts';
import type { Handover } from './leadership.ts';

export interface KafkaHandoverOptions {
  readonly kafka: Pick<Kafka, 'admin'>;
  /** The member of the leader: the broker refuses a commit of one that has lost its place. */
  readonly consumer: Pick<Consumer, 'commitOffsets'>;
  readonly groupId: string;
  /** Its first partition stands for the leadership. */
  readonly topic: string;
  /** The database: each that shares the group has its own handover. */
  readonly storeId: string;
}

/** Brokers keep 4,096 bytes with an offset (`offset.metadata.max.bytes`). */
const maxBytes = 4_096;

/** The metadata of an offset that nobody reads from: values by database. */
type Values = Readonly<Record<string, unknown>>;

/**
 * A leader's record for its successor, kept with the group's offset of the partition that stands for the
 * leadership. It survives while ClickHouse is away. Each call costs one or two requests to the group's coordinator.
 */
export class KafkaHandover implements Handover {
  readonly #options: KafkaHandoverOptions;

  constructor(options: KafkaHandoverOptions) {
    this.#options = options;
  }

  async read(): Promise<unknown> {
    return (await this.#values())[this.#options.storeId];
  }

  async leave(value: unknown): Promise<void> {
    const { consumer, topic, storeId } = this.#options;
    const { [storeId]: _own, ...others } = await this.#values();
    const values = value === undefined ? others : { ...others, [storeId]: value };
    const metadata = JSON.stringify(values);
    const bytes = Buffer.byteLength(metadata);
    if (bytes > maxBytes) throw new Error(`it has ${bytes} bytes, more than ${maxBytes}`);
    await consumer.commitOffsets([{ topic, partition: 0, offset: '0', metadata }]);
  }

  async #values(): Promise<Values> {
    const { kafka, groupId, topic } = this.#options;
    const admin = new KafkaAdmin(kafka);
    try {
      await admin.client.connect();
      // Throws where Kafka does not say: to leave a value would drop the others.
      const { metadata } = await admin.commitOf(groupId, { topic, partition: 0 });
      return valuesIn(metadata);
    } finally {
      await admin.close();
    }
  }
}

function valuesIn(metadata: string): Values {
  if (!metadata.startsWith('{')) return {};
  try {
    return JSON.parse(metadata) as Values;
  } catch {
    return {};
  }
}
