import { configSchema } from '../../config/schema.ts';
import { ensureTopics } from '../../kafka/client/kafka-topics.ts';
import { migrate } from '../../sink/migrate.ts';
import type { Command } from '../command.ts';
import { createUpCommand } from '../commands/up.ts';

/** Partitions of a topic that `up` creates. */
const PARTITIONS = 4;

/** `tailmark up` with all requirements of `run`: the tables, and the topics of the defaults. */
export const migratedUp: Command = createUpCommand({
  prepare: async ({ kafka, clickhouse }) => {
    const config = configSchema.parse({
      kafka: { brokers: kafka.brokers },
      clickhouse: { url: clickhouse.url, database: clickhouse.database },
    });
    await migrate(config.clickhouse);
    const topics = config.kafka.topics.map((topic) => ({ topic, partitions: PARTITIONS }));
    await ensureTopics(config.kafka, topics);
  },
});
