import type { FoundPartition } from '../../source/source.ts';
import type { KafkaAdmin, PartitionName } from './kafka-admin.ts';

/**
 * Looks up logs, their ranges and committed offsets. Costs four requests, and two more per topic and leader,
 * for any number of partitions. Partitions that do not exist, or that nobody leads now, are left out.
 *
 * @throws Error where a topic was recreated meanwhile: what was read is of two logs.
 */
export async function findPartitions<P extends PartitionName>(
  admin: KafkaAdmin,
  groupId: string,
  claims: readonly P[],
): Promise<Map<P, FoundPartition>> {
  const topics = [...new Set(claims.map(({ topic }) => topic))];
  const logs = await admin.logs(topics);
  const commits = await admin.committed(groupId, claims);
  const found = new Map<P, FoundPartition>();
  for (const topic of topics) {
    const asked = claims.filter((claim) => claim.topic === topic);
    const { logId = '', partitions = [] } = logs.get(topic) ?? {};
    const present = partitions.filter(({ partitionId }) =>
      asked.some(({ partition }) => partition === partitionId),
    );
    const { ranges } = await admin.ranges(topic, present);
    for (const claim of asked) {
      const range = ranges.get(claim.partition);
      const led = present.find(({ partitionId }) => partitionId === claim.partition);
      const committed = commits.get(`${topic}/${claim.partition}`);
      if (range === undefined || led === undefined || committed === undefined) continue;
      found.set(claim, {
        ...{ logId, committed, startOffset: range.low, endOffset: range.high },
        firstOffsetAt: (timestampMs) => admin.firstOffsetAt(topic, led, timestampMs),
        endOfEpoch: (epoch) => admin.endOfEpoch(topic, led, epoch),
      });
    }
  }
  for (const [topic, { logId }] of await admin.logs(topics)) {
    if (logs.get(topic)?.logId === logId) continue;
    throw new Error(`topic ${topic} was recreated while its offsets were read`);
  }
  return found;
}
