import kafkajs, { type Cluster, type PartitionAssigner } from 'kafkajs';
import { messageOf } from '../../base/failure.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import { type KafkaAdmin, partitionsOf } from '../client/kafka-admin.ts';
import { withOwnTopics } from './group-stores.ts';
import { decodeMember, type GroupMember } from './member-data.ts';

const { AssignerProtocol } = kafkajs;

export interface SubscribedRoundRobinOptions {
  /** Data of this member for the others. @default none */
  readonly userData?: Buffer | undefined;
  /** Receives members that get nothing of some topic, as it belongs to another database than theirs. */
  readonly onLeftOut?: (memberIds: readonly string[]) => void;
}

/**
 * Assigns partitions in turn, each topic to the members that subscribe to it, as Kafka's own
 * RoundRobinAssignor does. That of kafkajs gives the topics of the member that assigns to all members, which
 * drop those that they do not subscribe to. Where all subscribe to the same topics the result is the same,
 * and so is its name: both may be in one group. A topic goes to members of one database only.
 *
 * @param partitionsOf partitions of topics that this member does not subscribe to; [] for one it cannot see.
 */
export function subscribedRoundRobin(
  partitionsOf: (topics: readonly string[]) => Promise<ReadonlyMap<string, readonly number[]>>,
  { userData = Buffer.alloc(0), onLeftOut = () => undefined }: SubscribedRoundRobinOptions = {},
): PartitionAssigner {
  const [name, version] = ['RoundRobinAssigner', 0];
  return ({ cluster }) => ({
    name,
    version,
    protocol: ({ topics }) => ({
      name,
      metadata: AssignerProtocol.MemberMetadata.encode({ version, topics, userData }),
    }),
    async assign({ members, topics }) {
      const all = members.map((each) => decodeMember(each.memberId, each.memberMetadata));
      const subscribers = withOwnTopics(all)
        .map((each) => ({ memberId: each.memberId, topics: new Set(each.topics) }))
        .sort((a, b) => (a.memberId < b.memberId ? -1 : 1));
      reportLeftOut(all, subscribers, onLeftOut);
      const subscribed = new Set([...topics, ...subscribers.flatMap((each) => [...each.topics])]);
      const others = [...subscribed].filter((topic) => !topics.includes(topic));
      const seen = others.length === 0 ? new Map<string, number[]>() : await partitionsOf(others);
      const shares = new Map(
        subscribers.map(({ memberId }): [string, Record<string, number[]>] => [memberId, {}]),
      );
      let turn = 0;
      for (const topic of subscribed) {
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

/**
 * Reads the partitions of topics that other members of the group subscribe to. One that this member cannot
 * see has none, and a warning says so: it must not end the members of other topics.
 */
export async function otherTopics(
  admin: Pick<KafkaAdmin, 'logs'>,
  groupId: string,
  topics: readonly string[],
  log: Logger | undefined,
): Promise<Map<string, readonly number[]>> {
  const found = await Promise.all(
    topics.map(async (topic): Promise<[string, readonly number[]]> => {
      try {
        const partitions = partitionsOf(await admin.logs([topic])).map((each) => each.partition);
        return [topic, partitions.sort((a, b) => a - b)];
      } catch (error) {
        log?.warn(
          { group: groupId, topic, err: messageOf(error) },
          'another member of the consumer group subscribes to a topic that this process cannot see: ' +
            'nobody reads it. Give each deployment a kafka.group_id of its own',
        );
        return [topic, []];
      }
    }),
  );
  log?.warn(
    { group: groupId, topics },
    'other members of the consumer group subscribe to other topics: each topic goes to its subscribers. ' +
      'Give each deployment a kafka.group_id of its own',
  );
  return new Map(found);
}

function reportLeftOut(
  all: readonly GroupMember[],
  subscribers: readonly { readonly memberId: string; readonly topics: ReadonlySet<string> }[],
  report: (memberIds: readonly string[]) => void,
): void {
  const counts = new Map(subscribers.map(({ memberId, topics }) => [memberId, topics.size]));
  const leftOut = all.filter(({ memberId, topics }) => counts.get(memberId) !== topics.length);
  if (leftOut.length > 0) report(leftOut.map(({ memberId }) => memberId));
}

function ownPartitions(cluster: Cluster, topic: string): number[] {
  return cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId);
}

/** The item whose turn it is, of a list that is not empty. */
function at<T>(items: readonly T[], turn: number): T {
  return items[turn % items.length] as T;
}
