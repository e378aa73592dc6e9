import type { CommittedOffset } from '../../source/source.ts';
import type { Cluster } from './cluster-admin.ts';

/** Kafka's answer for a partition that the group has no commit of; kafkajs commits -2 for one out of range. */
const none: CommittedOffset = { offset: undefined, metadata: '' };

/**
 * Reads what a group has committed for some partitions, by `topic/partition`. Costs two requests.
 *
 * The admin client of kafkajs asks for the partitions that its copy of the metadata has. A partition that was
 * added since, or whose topic a request at the same time left out of the copy, would look like one without a
 * commit, and its pending chunk would be made again.
 *
 * @throws Error where the answer lacks one of the partitions.
 */
export async function committedOffsets(
  cluster: Cluster,
  groupId: string,
  partitions: readonly { readonly topic: string; readonly partition: number }[],
): Promise<Map<string, CommittedOffset>> {
  const names = [...new Set(partitions.map(({ topic }) => topic))];
  const topics = names.map((topic) => ({
    topic,
    partitions: partitions
      .filter((each) => each.topic === topic)
      .map(({ partition }) => ({ partition })),
  }));
  const coordinator = await cluster.findGroupCoordinator({ groupId });
  const { responses } = await coordinator.offsetFetch({ groupId, topics });
  const found = new Map<string, CommittedOffset>();
  for (const { topic, partitions: entries } of responses) {
    for (const { partition, offset, metadata } of entries) {
      const committed = { offset: Number(offset), metadata: metadata ?? '' };
      found.set(`${topic}/${partition}`, committed.offset < 0 ? none : committed);
    }
  }
  const missing = partitions.find(({ topic, partition }) => !found.has(`${topic}/${partition}`));
  if (missing === undefined) return found;
  const { topic, partition } = missing;
  throw new Error(`Kafka did not say what group ${groupId} has committed of ${topic}/${partition}`);
}
