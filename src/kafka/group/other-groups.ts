import type { Admin } from 'kafkajs';
import type { Config } from '../../config/schema.ts';
import { brokerErrorType } from '../broker-error-type.ts';
import { createKafkaClient, kafkaError, rootOf } from '../client/kafka-client.ts';
import type { FoundCommit } from './find-group.ts';

export interface CommitOfGroup extends FoundCommit {
  readonly groupId: string;
}

/** Groups that are asked at once. */
const AT_ONCE = 8;
/** What a group has committed; nothing of one that Kafka does not show, such as a group of another protocol. */
async function commitsOf(
  admin: Pick<Admin, 'fetchOffsets'>,
  groupId: string,
  topics: readonly string[],
): Promise<CommitOfGroup[]> {
  try {
    const committed = await admin.fetchOffsets({ groupId, topics: [...topics] });
    return committed.flatMap(({ topic, partitions }) =>
      partitions.map(({ partition, offset, metadata }) => {
        return { groupId, topic, partition, offset: Number(offset), metadata: metadata ?? '' };
      }),
    );
  } catch (error) {
    if (brokerErrorType(rootOf(error)) === undefined) throw error;
    return [];
  }
}

/**
 * Reads what other consumer groups have committed of topics. Kafka lists only groups that the login may
 * describe, so others are not found. Two requests a group.
 *
 * @throws OperatorError when Kafka cannot be asked.
 */
export async function commitsOfOtherGroups(
  config: Config['kafka'],
  groupId: string,
  topics: readonly string[],
): Promise<CommitOfGroup[]> {
  const client = createKafkaClient(config, { retries: 3, requestTimeoutMs: 10_000 });
  const admin = client.admin();
  try {
    await admin.connect();
    const { groups } = await admin.listGroups();
    const left = groups.map((group) => group.groupId).filter((name) => name !== groupId);
    const found: CommitOfGroup[] = [];
    const ask = async () => {
      for (let other = left.pop(); other !== undefined; other = left.pop()) {
        found.push(...(await commitsOf(admin, other, topics)));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, ask));
    return found;
  } catch (error) {
    throw kafkaError(error, 'look up other consumer groups', config);
  } finally {
    await admin.disconnect().catch(() => undefined);
  }
}
