import type { Admin } from 'kafkajs';
import { systemClock } from '../../base/clock.ts';
import type { Config } from '../../config/schema.ts';
import { brokerErrorType } from '../broker-error-type.ts';
import { clusterAdminOf } from '../client/cluster-admin.ts';
import { createKafkaClient, kafkaError, rootOf } from '../client/kafka-client.ts';
import { logIdsOf } from '../partition-lookup.ts';
import { decodeMember, type GroupMember } from './member-data.ts';

export interface FoundCommit {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly metadata: string;
}

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

/** Looks up the configured group. @throws OperatorError when Kafka cannot be asked. */
export async function findGroup(config: Config['kafka']): Promise<FoundGroup> {
  const { group_id: groupId, topics } = config;
  const client = createKafkaClient(config, { retries: 3, requestTimeoutMs: 10_000 });
  const cluster = clusterAdminOf(client);
  const { admin } = cluster;
  try {
    await admin.connect();
    const logIds = await logIdsOf(cluster, topics);
    const [committed, members] = await fromCoordinator(() =>
      Promise.all([admin.fetchOffsets({ groupId, topics }), findMembers(admin, groupId)]),
    );
    const commits = committed.flatMap(({ topic, partitions }) =>
      partitions.map(({ partition, offset, metadata }) => {
        return { topic, partition, offset: Number(offset), metadata: metadata ?? '' };
      }),
    );
    return { logIds, commits, members: members ?? [] };
  } catch (error) {
    throw kafkaError(error, `look up consumer group ${groupId}`, config);
  } finally {
    await admin.disconnect().catch(() => undefined);
  }
}

/** Errors of brokers while a group moves to another one, or while the first group of a cluster begins. */
const moving: ReadonlySet<string> = new Set([
  'GROUP_LOAD_IN_PROGRESS',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'NOT_COORDINATOR_FOR_GROUP',
]);
const ATTEMPTS = 60;
const BETWEEN_ATTEMPTS_MS = 250;

/** Asks the coordinator of a group, for some 15 s while there is none. */
async function fromCoordinator<T>(ask: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask();
    } catch (error) {
      const isMoving = moving.has(brokerErrorType(rootOf(error)) ?? '');
      if (!isMoving || attempt === ATTEMPTS) throw error;
    }
    await systemClock.sleep(BETWEEN_ATTEMPTS_MS);
  }
}

/** Members of a group; undefined while it rebalances, as brokers do not show them then. */
export async function findMembers(
  admin: Pick<Admin, 'describeGroups'>,
  groupId: string,
): Promise<FoundMember[] | undefined> {
  const { groups } = await admin.describeGroups([groupId]);
  const [group] = groups;
  if (group === undefined || !shown.has(group.state)) return undefined;
  return group.members.map(({ memberId, clientHost, memberMetadata }) => {
    return { ...decodeMember(memberId, memberMetadata), host: clientHost.replace(/^\//, '') };
  });
}

/** States of a group in which brokers show all of its members. */
const shown: ReadonlySet<string> = new Set(['Stable', 'Empty', 'Dead']);
