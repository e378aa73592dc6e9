import kafkajs, { type Cluster, type PartitionAssigner } from 'kafkajs';

const { AssignerProtocol } = kafkajs;

/**
 * Assigns partitions in turn, each topic to the members that subscribe to it, as Kafka's own
 * RoundRobinAssignor does. That of kafkajs gives the topics of the member that assigns to all members, which
 * drop those that they do not subscribe to. Where all subscribe to the same topics the result is the same,
 * and so is its name: both may be in one group.
 *
 * @param partitionsOf partitions of topics that this member does not subscribe to; [] for one it cannot see.
 */
export function subscribedRoundRobin(
  partitionsOf: (topics: readonly string[]) => Promise<ReadonlyMap<string, readonly number[]>>,
): PartitionAssigner {
  const [name, version] = ['RoundRobinAssigner', 0];
  return ({ cluster }) => ({
    name,
    version,
    protocol: ({ topics }) => ({
      name,
      metadata: AssignerProtocol.MemberMetadata.encode({
        version,
        topics,
        userData: Buffer.alloc(0),
      }),
    }),
    async assign({ members, topics }) {
      const subscribers = members
        .map(({ memberId, memberMetadata }) => {
          const decoded = AssignerProtocol.MemberMetadata.decode(memberMetadata);
          return { memberId, topics: new Set(decoded?.topics ?? topics) };
        })
        .sort((a, b) => (a.memberId < b.memberId ? -1 : 1));
      const all = new Set([...topics, ...subscribers.flatMap((member) => [...member.topics])]);
      const others = [...all].filter((topic) => !topics.includes(topic));
      const seen = others.length === 0 ? new Map<string, number[]>() : await partitionsOf(others);
      const shares = new Map(
        subscribers.map(({ memberId }): [string, Record<string, number[]>] => [memberId, {}]),
      );
      let turn = 0;
      for (const topic of all) {
        if (!subscribers.some((member) => member.topics.has(topic))) continue;
        for (const partition of seen.get(topic) ?? ownPartitions(cluster, topic)) {
          while (!at(subscribers, turn).topics.has(topic)) turn++;
          const share = shares.get(at(subscribers, turn).memberId) ?? {};
          share[topic] = [...(share[topic] ?? []), partition];
          turn++;
        }
      }
      return [...shares].map(([memberId, assignment]) => ({
        memberId,
        memberAssignment: AssignerProtocol.MemberAssignment.encode({
          version,
          assignment,
          userData: Buffer.alloc(0),
        }),
      }));
    },
  });
}

function ownPartitions(cluster: Cluster, topic: string): number[] {
  return cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId);
}

/** The item whose turn it is, of a list that is not empty. */
function at<T>(items: readonly T[], turn: number): T {
  return items[turn % items.length] as T;
}
