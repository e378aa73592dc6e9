import { brokerErrorType } from '../broker-error-type.ts';
import { type Patchable, patchOnce } from './patch-once.ts';
import { RejoinError } from './rejoin-error.ts';

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
  const doubts = new WeakMap<ConsumerGroup, unknown>();
  const methods = ['commitOffsets', 'heartbeat', 'joinAndSync'] as const;
  patchOnce(group, 'leaveOnUnknownCommit', methods, (before) => ({
    async commitOffsets(this: ConsumerGroup, offsets: unknown) {
      try {
        await before.commitOffsets.call(this, offsets);
      } catch (error) {
        if (brokerErrorType(error) === undefined) doubts.set(this, error);
        throw error;
      }
    },
    async heartbeat(this: ConsumerGroup, options: unknown) {
      if (doubts.has(this)) throw new RejoinError(doubts.get(this));
      await before.heartbeat.call(this, options);
    },
    async joinAndSync(this: ConsumerGroup) {
      if (doubts.has(this)) await leave(this);
      await before.joinAndSync.call(this);
      doubts.delete(this);
    },
  }));
}

/** If leaving fails, the next member waits until the session timeout removes this one. */
async function leave(group: ConsumerGroup): Promise<void> {
  const { groupId } = group;
  try {
    group.coordinator = await group.cluster.findGroupCoordinator({ groupId });
    await group.leave();
  } catch {
    // The consumer joins as another member anyway.
  }
  group.memberId = null;
}
