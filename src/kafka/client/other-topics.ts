import type { Admin } from 'kafkajs';
import { messageOf } from '../../base/failure.ts';
import type { Logger } from '../../base/telemetry/log.ts';

/**
 * Reads the partitions of topics that other members of the group subscribe to. One that this member cannot
 * see has none, and a warning says so: it must not end the members of other topics.
 */
export async function otherTopics(
  admin: Pick<Admin, 'fetchTopicMetadata'>,
  groupId: string,
  topics: readonly string[],
  log: Logger | undefined,
): Promise<Map<string, readonly number[]>> {
  const found = await Promise.all(
    topics.map(async (topic): Promise<[string, readonly number[]]> => {
      try {
        const { topics: read } = await admin.fetchTopicMetadata({ topics: [topic] });
        const partitions = read.flatMap((one) => one.partitions.map((each) => each.partitionId));
        return [topic, partitions.sort((a, b) => a - b)];
      } catch (error) {
        log?.warn(
          { group: groupId, topic, err: messageOf(error) },
          'another member of the consumer group subscribes to a topic that this process cannot see: ' +
            'nobody reads it. Give each deployment a kafka.group_id of its own',
        );
        return [topic, []];
      }
    }),
  );
  log?.warn(
    { group: groupId, topics },
    'other members of the consumer group subscribe to other topics: each topic goes to its subscribers. ' +
      'Give each deployment a kafka.group_id of its own',
  );
  return new Map(found);
}
