import type { OperatorError } from '../base/operator-error.ts';
import type { FoundCommit } from '../kafka/client/kafka-admin.ts';
import { sharedGroup } from '../kafka/group/group-stores.ts';
import { clusterOf, generationOf } from '../source/log-id.ts';
import type { CommitMetadata } from './commit-metadata.ts';

/**
 * True if a commit is of another database. A commit of a topic that was deleted and recreated says nothing of
 * the present topic.
 */
export function isOfOtherStore(
  metadata: CommitMetadata | undefined,
  logId: string,
  storeId: string | undefined,
): boolean {
  const theirs = metadata?.storeId;
  if (metadata === undefined || theirs === undefined || storeId === undefined) return false;
  const isOfOldTopic =
    clusterOf(metadata.logId) === clusterOf(logId) &&
    generationOf(metadata.logId, logId) === undefined;
  return theirs !== storeId && !isOfOldTopic;
}

/** The error of a commit that is of another database. */
export function otherStore(
  groupId: string,
  { topic, partition, offset }: Omit<FoundCommit, 'metadata'>,
): OperatorError {
  const found = `its offset ${offset} of partition ${partition} says how far another database has come`;
  return sharedGroup(groupId, topic, found);
}
