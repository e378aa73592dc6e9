import type { Config } from '../../../src/config/schema.ts';
import { KafkaAdmin } from '../../../src/kafka/client/kafka-admin.ts';
import { createKafkaClient } from '../../../src/kafka/client/kafka-client.ts';
import { poll } from './poll.ts';

/** Which of some topics a cluster has. */
export async function presentTopics(
  config: Config['kafka'],
  names: readonly string[],
): Promise<string[]> {
  const admin = new KafkaAdmin(createKafkaClient(config));
  await admin.client.connect();
  try {
    return [...(await admin.describe(names)).topics.keys()];
  } finally {
    await admin.close();
  }
}

/** Resolves when a topic that was deleted is gone. */
export function untilGone(config: Config['kafka'], topic: string): Promise<true> {
  return poll(`topic ${topic} is gone`, async () =>
    (await presentTopics(config, [topic])).length === 0 ? true : undefined,
  );
}
