import type { Admin, Kafka } from 'kafkajs';
import { systemClock } from '../../base/clock.ts';
import { type RetryOptions, retry } from '../../base/retry.ts';
import type { Config } from '../../config/schema.ts';
import { type FoundCommit, KafkaAdmin, partitionsOf } from '../client/kafka-admin.ts';
import { rootOf } from '../client/kafka-client.ts';
import { isAway } from '../errors/away.ts';
import { brokerErrorType } from '../errors/broker-error.ts';
import { decodeMember, type GroupMember } from './member-data.ts';

/** A consumer group as a process finds it before it joins. */
export interface FoundGroup {
  /** Ids of the topics' logs, by topic. */
  readonly logIds: ReadonlyMap<string, string>;
  readonly commits: readonly FoundCommit[];
  readonly members: readonly FoundMember[];
}

export interface FoundMember extends GroupMember {
  /** Address of its client. */
  readonly host: string;
}

export interface CommitOfGroup extends FoundCommit {
  readonly groupId: string;
}

/** Looks up the configured group. @throws OperatorError when Kafka cannot be asked. */
export function findGroup(
  config: Config['kafka'],
  kafka?: Pick<Kafka, 'admin'>,
): Promise<FoundGroup> {
  const { group_id: groupId, topics } = config;
  const find = async (admin: KafkaAdmin) => {
    const [logs, members] = await Promise.all([
      admin.logs(topics),
      findMembers(admin.client, groupId),
    ]);
    const commits = await admin.commits(groupId, partitionsOf(logs));
    const logIds = new Map([...logs].map(([topic, { logId }]) => [topic, logId]));
    return { logIds, commits, members: members ?? [] };
  };
  const settled = (admin: KafkaAdmin) => retry(() => find(admin), settling);
  return KafkaAdmin.use(config, `look up consumer group ${groupId}`, settled, kafka);
}

/**
 * Asks again for some 15 s: while a broker is away, while its group and partitions move to others, and while
 * the first group of a cluster begins.
 */
const settling: RetryOptions = {
  ...{ clock: systemClock, firstMs: 250, longestMs: 250, attempts: 60 },
  onError: (error) => {
    if (!isAway(error)) throw error;
  },
};

/** Members of a group; undefined while it rebalances, as brokers do not show them then. */
export async function findMembers(
  admin: Pick<Admin, 'describeGroups'>,
  groupId: string,
): Promise<FoundMember[] | undefined> {
  const { groups } = await admin.describeGroups([groupId]);
  const [group] = groups;
  if (group === undefined || !shownStates.has(group.state)) return undefined;
  return group.members.map(({ memberId, clientHost, memberMetadata }) => {
    return { ...decodeMember(memberId, memberMetadata), host: clientHost.replace(/^\//, '') };
  });
}

/** States of a group in which brokers show all of its members. */
const shownStates: ReadonlySet<string> = new Set(['Stable', 'Empty', 'Dead']);

/** Groups that are asked at once. */
const AT_ONCE = 8;

/**
 * Reads the commits of other consumer groups for topics. Kafka lists only groups that the login may describe, so
 * others are not found. Two requests a group.
 *
 * @throws OperatorError when Kafka cannot be asked.
 */
export function commitsOfOtherGroups(
  config: Config['kafka'],
  groupId: string,
  topics: readonly string[],
  kafka?: Pick<Kafka, 'admin'>,
): Promise<CommitOfGroup[]> {
  const find = async (admin: KafkaAdmin) => {
    const partitions = partitionsOf((await admin.describe(topics)).topics);
    const left = (await shown(admin.groupIds())).filter((id) => id !== groupId);
    const found: CommitOfGroup[] = [];
    const ask = async () => {
      for (let other = left.pop(); other !== undefined; other = left.pop()) {
        const commits = await shown(admin.commits(other, partitions));
        for (const commit of commits) found.push({ groupId: other, ...commit });
      }
    };
    if (partitions.length > 0) await Promise.all(Array.from({ length: AT_ONCE }, ask));
    return found;
  };
  return KafkaAdmin.use(config, 'look up other consumer groups', find, kafka);
}

/** Counts a refusal of Kafka as nothing there: groups of another protocol, a list that is not allowed. */
async function shown<T>(asked: Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await asked;
  } catch (error) {
    if (brokerErrorType(rootOf(error)) === undefined) throw error;
    return [];
  }
}
