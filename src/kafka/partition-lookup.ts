import type { Admin } from 'kafkajs';
import type { FoundPartition } from '../source/source.ts';
import type { KafkaClaim } from './kafka-claim.ts';

/**
 * Looks up committed offsets and log bounds. Costs three requests, and one more per topic, for any number of
 * partitions. Partitions that do not exist are left out.
 */
export async function findPartitions(
  admin: Admin,
  groupId: string,
  claims: readonly KafkaClaim[],
): Promise<Map<KafkaClaim, FoundPartition>> {
  const topics = [...new Set(claims.map(({ topic }) => topic))];
  const committed = await admin.fetchOffsets({ groupId, topics });
  const found = new Map<KafkaClaim, FoundPartition>();
  for (const topic of topics) {
    const bounds = await admin.fetchTopicOffsets(topic);
    const commits = committed.find((entry) => entry.topic === topic)?.partitions ?? [];
    for (const claim of claims) {
      const bound = bounds.find(({ partition }) => partition === claim.partition);
      if (claim.topic !== topic || bound === undefined) continue;
      const commit = commits.find(({ partition }) => partition === claim.partition);
      // -1 means no commit; kafkajs commits -2 where an offset was out of range.
      const offset = Number(commit?.offset ?? -1);
      const endOffset = Number(bound.high);
      found.set(claim, {
        committed:
          offset < 0
            ? { offset: undefined, metadata: '' }
            : { offset, metadata: commit?.metadata ?? '' },
        startOffset: Number(bound.low),
        endOffset,
        firstOffsetAt: (timestampMs) => firstOffsetAt(admin, claim, timestampMs),
      });
    }
  }
  return found;
}

async function firstOffsetAt(
  admin: Admin,
  { topic, partition }: KafkaClaim,
  timestampMs: number,
): Promise<number> {
  const offsets = await admin.fetchTopicOffsetsByTimestamp(topic, timestampMs);
  return Number(offsets.find((entry) => entry.partition === partition)?.offset ?? 0);
}
