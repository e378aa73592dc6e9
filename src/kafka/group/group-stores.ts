import { OperatorError } from '../../base/operator-error.ts';
import type { GroupMember } from './member-data.ts';

/**
 * The database of each topic of a group, by a member that works for it. Members of two databases would share
 * the partitions of a topic, and each database would have a part of its events. So the topic goes to the
 * database whose member started first.
 */
export function ownersByTopic(members: readonly GroupMember[]): Map<string, GroupMember> {
  const owners = new Map<string, GroupMember>();
  for (const member of members) {
    if (member.data.storeId === undefined) continue;
    for (const topic of member.topics) {
      const owner = owners.get(topic);
      if (owner === undefined || isBefore(member, owner)) owners.set(topic, member);
    }
  }
  return owners;
}

/** A topic of a member that belongs to another database in this group, and a member of that one. */
export function takenTopic(
  { topics, data }: Omit<GroupMember, 'memberId'>,
  owners: ReadonlyMap<string, GroupMember>,
): { readonly topic: string; readonly owner: GroupMember } | undefined {
  for (const topic of topics) {
    const owner = owners.get(topic);
    const isTaken = owner !== undefined && data.storeId !== undefined;
    if (isTaken && owner.data.storeId !== data.storeId) return { topic, owner };
  }
  return undefined;
}

/** The members without the topics that belong to other databases than theirs. */
export function withOwnTopics(members: readonly GroupMember[]): GroupMember[] {
  const owners = ownersByTopic(members);
  return members.map((member) => {
    const isOwn = (topic: string) => takenTopic({ ...member, topics: [topic] }, owners);
    return { ...member, topics: member.topics.filter((topic) => isOwn(topic) === undefined) };
  });
}

/** @param found value of the message: what is of another database. */
export function sharedGroup(groupId: string, topic: string, found: string): OperatorError {
  return new OperatorError(
    'TAILMARK_GROUP_SHARED',
    `Cannot ingest as consumer group ${groupId} must store topic ${topic} into one database: ${found}`,
    {
      hint:
        'Each database would have a part of the events. Give each deployment a kafka.group_id of its own. ' +
        'Where this database was restored or replaced, docs/how-to/operate.md says how its group goes on.',
    },
  );
}

function isBefore(one: GroupMember, other: GroupMember): boolean {
  const [a, b] = [one.data.sinceMs ?? 0, other.data.sinceMs ?? 0];
  return a === b ? one.memberId < other.memberId : a < b;
}
