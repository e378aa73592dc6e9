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

const mended = new WeakSet<object>();

/**
 * Has a consumer leave its group, and come back as another member, after a commit of which nobody
 * knows whether it will still arrive. Commits are in order on one connection only: one whose
 * connection broke may be taken after later ones that went over the next, and put the group back,
 * past a chunk that had been begun meanwhile. The coordinator refuses it once its member is gone.
 */
export function leaveAfterDoubt(group: { readonly prototype: ConsumerGroup }): void {
  const { prototype } = group;
  if (mended.has(prototype)) return;
  mended.add(prototype);
  const doubts = new WeakMap<ConsumerGroup, unknown>();
  const { commitOffsets, heartbeat, joinAndSync } = prototype;
  prototype.commitOffsets = async function (this: ConsumerGroup, offsets: unknown) {
    try {
      await commitOffsets.call(this, offsets);
    } catch (error) {
      if (!isAnswer(error)) doubts.set(this, error);
      throw error;
    }
  };
  prototype.heartbeat = async function (this: ConsumerGroup, options: unknown) {
    if (doubts.has(this)) throw new RejoinError(doubts.get(this));
    await heartbeat.call(this, options);
  };
  prototype.joinAndSync = async function (this: ConsumerGroup) {
    if (doubts.has(this)) await leave(this);
    await joinAndSync.call(this);
    doubts.delete(this);
  };
}

/** A broker's answer has the type of its error; what happens to connections has none. */
function isAnswer(error: unknown): boolean {
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
