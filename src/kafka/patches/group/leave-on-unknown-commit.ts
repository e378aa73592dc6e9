import { isAway, wasNeverSent } from '../../errors/away.ts';
import { brokerErrorType, RejoinError } from '../../errors/broker-error.ts';
import { type Patchable, patchOnce } from '../patch-once.ts';

/** The used part of kafkajs' `ConsumerGroup` (src/consumer/consumerGroup.js). */
interface ConsumerGroup {
  readonly groupId: string;
  memberId: string | null;
  coordinator: unknown;
  readonly cluster: { findGroupCoordinator(query: { groupId: string }): Promise<unknown> };
  commitOffsets(offsets: unknown): Promise<void>;
  heartbeat(options: unknown): Promise<void>;
  joinAndSync(): Promise<void>;
  leave(): Promise<void>;
}

/**
 * Makes a consumer leave and rejoin as another member after a commit without a response. Commits are ordered
 * on one connection only. A commit on a broken connection may arrive after later commits on the next one. It
 * would reset the group to an earlier offset, past a pending chunk. The coordinator rejects it once the
 * member is gone.
 */
export function leaveOnUnknownCommit(group: Patchable<ConsumerGroup>): void {
  const unknownCommits = new WeakMap<ConsumerGroup, unknown>();
  const methods = ['commitOffsets', 'heartbeat', 'joinAndSync'] as const;
  patchOnce(group, 'leaveOnUnknownCommit', methods, (before) => ({
    async commitOffsets(this: ConsumerGroup, offsets: unknown) {
      try {
        await before.commitOffsets.call(this, offsets);
      } catch (error) {
        const isUnknown = brokerErrorType(error) === undefined && !wasNeverSent(error);
        if (isUnknown) unknownCommits.set(this, error);
        throw error;
      }
    },
    async heartbeat(this: ConsumerGroup, options: unknown) {
      if (unknownCommits.has(this)) throw new RejoinError(unknownCommits.get(this));
      await before.heartbeat.call(this, options);
    },
    async joinAndSync(this: ConsumerGroup) {
      if (unknownCommits.has(this)) await leave(this);
      await before.joinAndSync.call(this);
      unknownCommits.delete(this);
    },
  }));
}

/** @throws where there is no coordinator now: the next member would wait for this one's session to end. */
async function leave(group: ConsumerGroup): Promise<void> {
  const { groupId } = group;
  try {
    group.coordinator = await group.cluster.findGroupCoordinator({ groupId });
    await group.leave();
  } catch (error) {
    if (isAway(error)) throw error;
    // The group does not know it any more.
  }
  group.memberId = null;
}
