import { type Patchable, patchOnce } from './patch-once.ts';
import { RejoinError } from './rejoin-error.ts';

/** As much of kafkajs' `ConsumerGroup` as is needed; src/consumer/consumerGroup.js there. */
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
 * Has a consumer leave its group, and come back as another member, after a commit of which nobody
 * knows whether it will still arrive. Commits are in order on one connection only: one whose
 * connection broke may be taken after later ones that went over the next, and put the group back,
 * past a chunk that had been begun meanwhile. The coordinator refuses it once its member is gone.
 */
export function leaveOnUnknownCommit(group: Patchable<ConsumerGroup>): void {
  const doubts = new WeakMap<ConsumerGroup, unknown>();
  const methods = ['commitOffsets', 'heartbeat', 'joinAndSync'] as const;
  patchOnce(group, 'leaveOnUnknownCommit', methods, (before) => ({
    async commitOffsets(this: ConsumerGroup, offsets: unknown) {
      try {
        await before.commitOffsets.call(this, offsets);
      } catch (error) {
        if (!isResponse(error)) doubts.set(this, error);
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

/** A broker's response has the type of its error; what happens to connections has none. */
function isResponse(error: unknown): boolean {
  return error instanceof Error && 'type' in error && typeof error.type === 'string';
}

/** Where leaving fails the group puts the member out after its session: the next one waits for that. */
async function leave(group: ConsumerGroup): Promise<void> {
  const { groupId } = group;
  try {
    group.coordinator = await group.cluster.findGroupCoordinator({ groupId });
    await group.leave();
  } catch {
    // The member that joins next is another one, whatever became of this.
  }
  group.memberId = null;
}
