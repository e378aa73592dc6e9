import type { Config } from '../../config/schema.ts';
import { brokerErrorType } from '../broker-error-type.ts';
import { createKafkaClient, kafkaError, rootOf } from '../client/kafka-client.ts';
import type { FoundCommit } from './find-group.ts';

export interface CommitOfGroup extends FoundCommit {
  readonly groupId: string;
}

/** Groups that are asked at once. */
const AT_ONCE = 8;
/** What Kafka does not show counts as not there: groups of another protocol, a list that is not allowed. */
async function shown<T>(asked: Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await asked;
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
    const groups = await shown(admin.listGroups().then((listed) => listed.groups));
    const left = groups.map((group) => group.groupId).filter((name) => name !== groupId);
    const found: CommitOfGroup[] = [];
    const ask = async () => {
      for (let other = left.pop(); other !== undefined; other = left.pop()) {
        const committed = admin.fetchOffsets({ groupId: other, topics: [...topics] });
        for (const { topic, partitions } of await shown(committed)) {
          for (const { partition, offset, metadata } of partitions) {
            const commit = { topic, partition, offset: Number(offset), metadata: metadata ?? '' };
            found.push({ groupId: other, ...commit });
          }
        }
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
