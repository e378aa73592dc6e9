import { logIdOf } from '../source/log-id.ts';
import type { EpochEnd, FoundPartition } from '../source/source.ts';
import type { ClusterAdmin } from './client/cluster-admin.ts';
import { committedOffsets } from './client/committed-offsets.ts';
import type { KafkaClaim } from './kafka-claim.ts';
import type { TopicMetadata } from './protocol/metadata-v10.ts';

/**
 * Looks up logs, their bounds and committed offsets. Costs four requests, and one more per topic, for any
 * number of partitions. Partitions that do not exist are left out.
 *
 * @throws Error where a topic was recreated meanwhile: what was read is of two logs.
 */
export async function findPartitions(
  { admin, cluster }: ClusterAdmin,
  groupId: string,
  claims: readonly KafkaClaim[],
): Promise<Map<KafkaClaim, FoundPartition>> {
  const topics = [...new Set(claims.map(({ topic }) => topic))];
  const logs = await logsOf({ admin, cluster }, topics);
  const commits = await committedOffsets(cluster, groupId, claims);
  const found = new Map<KafkaClaim, FoundPartition>();
  for (const topic of topics) {
    const bounds = await admin.fetchTopicOffsets(topic);
    for (const claim of claims) {
      const bound = bounds.find(({ partition }) => partition === claim.partition);
      const committed = commits.get(claim.name);
      if (claim.topic !== topic || bound === undefined || committed === undefined) continue;
      found.set(claim, {
        logId: logs.get(topic)?.logId ?? '',
        committed,
        startOffset: Number(bound.low),
        endOffset: Number(bound.high),
        firstOffsetAt: (timestampMs) => firstOffsetAt({ admin }, claim, timestampMs),
        endOfEpoch: (epoch) => endOfEpoch({ cluster }, claim, logs.get(topic), epoch),
      });
    }
  }
  for (const [topic, { logId }] of await logsOf({ admin, cluster }, topics)) {
    if (logs.get(topic)?.logId === logId) continue;
    throw new Error(`topic ${topic} was recreated while its offsets were read`);
  }
  return found;
}

/** Ids of the topics' logs, by topic. */
export async function logIdsOf(
  admin: ClusterAdmin,
  topics: readonly string[],
): Promise<Map<string, string>> {
  const logs = await logsOf(admin, topics);
  return new Map([...logs].map(([topic, { logId }]) => [topic, logId]));
}

interface Log extends Pick<TopicMetadata, 'partitionMetadata'> {
  readonly logId: string;
}

async function logsOf(
  { cluster }: ClusterAdmin,
  topics: readonly string[],
): Promise<Map<string, Log>> {
  const { clusterId, topicMetadata } = await cluster.metadata({ topics });
  return new Map(
    topicMetadata.map(({ topic, topicId = '', partitionMetadata }) => [
      topic,
      { logId: logIdOf(clusterId ?? '', topicId), partitionMetadata },
    ]),
  );
}

async function firstOffsetAt(
  { admin }: Pick<ClusterAdmin, 'admin'>,
  { topic, partition }: KafkaClaim,
  timestampMs: number,
): Promise<number> {
  const offsets = await admin.fetchTopicOffsetsByTimestamp(topic, timestampMs);
  const found = offsets.find((entry) => entry.partition === partition);
  if (found === undefined)
    throw new Error(`Kafka did not say which offsets ${topic}/${partition} has`);
  return Number(found.offset);
}

async function endOfEpoch(
  { cluster }: Pick<ClusterAdmin, 'cluster'>,
  { topic, partition }: KafkaClaim,
  log: Log | undefined,
  leaderEpoch: number,
): Promise<EpochEnd | undefined> {
  const leader = log?.partitionMetadata.find(
    ({ partitionId }) => partitionId === partition,
  )?.leader;
  if (leader === undefined || leaderEpoch < 0) return undefined;
  const broker = await cluster.findBroker({ nodeId: leader });
  const { errorCode, ...end } = await broker.endOfEpoch({ topic, partition, leaderEpoch });
  if (errorCode !== 0) throw new Error(`OffsetForLeaderEpoch failed with error code ${errorCode}`);
  return end.endOffset < 0 ? undefined : end;
}
