import { type FoundPartition, remainingEnd } from '../source/source.ts';
import type { KafkaAdmin } from './client/kafka-admin.ts';
import { findPartitions } from './client/partition-lookup.ts';
import type { KafkaClaim } from './kafka-claim.ts';
import type { FetchedRecords } from './protocol/fetched-records.ts';

/**
 * True where the log is not the one that was read, or lacks some of its records.
 *
 * @throws where nobody can tell now, such as while the partition has no leader.
 */
export async function isOtherLog(
  admin: KafkaAdmin,
  groupId: string,
  claim: KafkaClaim,
): Promise<boolean> {
  const here = (await findPartitions(admin, groupId, [claim])).get(claim);
  if (here !== undefined) return !(await isSameLog(claim, here));
  const { topic, name, logId } = claim;
  const logs = await admin.logs([topic]);
  if (logs.get(topic)?.logId !== logId) return true;
  throw new Error(`${name} has no leader that says which log it is`);
}

async function isSameLog(claim: KafkaClaim, here: FoundPartition): Promise<boolean> {
  if (here.logId !== claim.logId) return false;
  const { endOffset } = await remainingEnd(claim.leaderEpoch, here);
  return endOffset >= claim.knownTo;
}

/**
 * True where records may be of another log than those that were read: the first record after them, and all
 * that are read once more, must be of the same leader.
 */
export function isOfOtherLeader(records: FetchedRecords, claim: KafkaClaim): boolean {
  const { leaderEpoch, knownTo, position = knownTo } = claim;
  if (leaderEpoch < 0) return false;
  if (records.current?.leaderEpoch !== leaderEpoch) return true;
  return position < knownTo && records.lastEpoch !== leaderEpoch;
}
