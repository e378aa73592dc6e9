import { OperatorError } from '../base/operator-error.ts';
import { failedProbe, type ProbeFinding } from '../base/probe-finding.ts';
import type { Config } from '../config/schema.ts';
import { type FoundGroup, findGroup } from '../kafka/group/find-group.ts';
import { ownersByTopic, sharedGroup, takenTopic } from '../kafka/group/group-stores.ts';
import {
  type ClickHouseClient,
  clickHouseError,
  openClickHouse,
} from '../sink/client/clickhouse.ts';
import { findServer, storeIdOf } from '../sink/guard/one-server.ts';
import { CONNECTIONS_AT_START } from '../sink/guard/store-guard.ts';
import { requireNoOtherGroup } from '../sink/guard/topic-groups.ts';
import { type CommitMetadata, decodeMetadata } from './commit-metadata.ts';
import { isOfOtherStore, otherStore } from './own-store.ts';

/**
 * Refuses to ingest before anything is joined or read: a group that another database uses for a topic, and a
 * topic that another group stores into this database.
 *
 * @throws OperatorError TAILMARK_GROUP_SHARED or TAILMARK_GROUP_CONFLICT.
 */
export async function requireOwnGroup(config: Config, client: ClickHouseClient): Promise<void> {
  const { kafka, clickhouse, ingest } = config;
  const asked = <T>(answer: Promise<T>) =>
    answer.catch((error: unknown) => {
      throw clickHouseError(error, 'look for other groups', clickhouse);
    });
  const storeId = storeIdOf(await asked(findServer(clickhouse, CONNECTIONS_AT_START)));
  const group = await findGroup(kafka);
  requireOwnMembers(kafka.group_id, kafka.topics, group, storeId);
  for (const commit of group.commits) {
    const metadata = readable(commit.metadata);
    const logId = group.logIds.get(commit.topic) ?? '';
    if (isOfOtherStore(metadata, logId, storeId)) throw otherStore(kafka.group_id, commit);
  }
  if (ingest.allow_other_groups) return;
  const isFromBeginning = (topic: string) =>
    kafka.start_from !== 'latest' && !group.commits.some((commit) => commit.topic === topic);
  await asked(requireNoOtherGroup(client, kafka.group_id, group.logIds, isFromBeginning));
}

/** Finds out whether a process that ingests would be refused. */
export async function probeGroup(config: Config): Promise<ProbeFinding[]> {
  if (config.source.type !== 'kafka') return [];
  const what = `consumer group ${config.kafka.group_id}`;
  const client = openClickHouse(config.clickhouse);
  try {
    await requireOwnGroup(config, client);
    const { database } = config.clickhouse;
    const others = config.ingest.allow_other_groups ? '; other groups are allowed to' : ' alone';
    return [{ ok: true, what, detail: `stores its topics into database ${database}${others}` }];
  } catch (error) {
    if (error instanceof OperatorError) return [failedProbe(what, error)];
    throw error;
  } finally {
    await client.close();
  }
}

function requireOwnMembers(
  groupId: string,
  topics: readonly string[],
  { members }: FoundGroup,
  storeId: string,
): void {
  const others = members.filter(({ data }) => data.storeId !== storeId);
  const taken = takenTopic({ topics, data: { storeId } }, ownersByTopic(others));
  if (taken === undefined) return;
  const { memberId } = taken.owner;
  const host = members.find((member) => member.memberId === memberId)?.host ?? '';
  throw sharedGroup(groupId, taken.topic, `${memberId} at ${host} uses another one`);
}

/** Metadata that cannot be read is refused by whoever is given the partition. */
function readable(metadata: string): CommitMetadata | undefined {
  try {
    return decodeMetadata(metadata);
  } catch (error) {
    if (error instanceof OperatorError) return undefined;
    throw error;
  }
}
