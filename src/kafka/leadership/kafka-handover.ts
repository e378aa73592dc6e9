import type { Consumer, Kafka } from 'kafkajs';
import type { Handover } from './leadership.ts';

export interface KafkaHandoverOptions {
  readonly kafka: Pick<Kafka, 'admin'>;
  /** The member of the leader: the broker refuses a commit of one that has lost its place. */
  readonly consumer: Pick<Consumer, 'commitOffsets'>;
  readonly groupId: string;
  /** Its first partition stands for the leadership. */
  readonly topic: string;
  /** The database: each that shares the group has a handover of its own. */
  readonly storeId: string;
}

/** Brokers keep 4,096 bytes with an offset (`offset.metadata.max.bytes`). */
const maxBytes = 4_096;

/** The metadata of an offset that nobody reads from: values by database. */
type Values = Readonly<Record<string, unknown>>;

/**
 * What a leader leaves for its successor, kept with the group's offset of the partition that stands for the
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
    const admin = kafka.admin();
    try {
      await admin.connect();
      const [committed] = await admin.fetchOffsets({ groupId, topics: [topic] });
      const found = committed?.partitions.find(({ partition }) => partition === 0);
      // Where the client has no metadata of the topic, it does not ask. To leave a value would drop the others.
      if (found === undefined) throw new Error(`Kafka did not say what is committed of ${topic}/0`);
      return valuesIn(found.metadata ?? '');
    } finally {
      await admin.disconnect().catch(() => undefined);
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
