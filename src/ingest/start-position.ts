import type { ChunkStore } from '../sink/chunks/chunk-store.ts';
import type { Claim, FoundPartition } from '../source/source.ts';
import { type CommitMetadata, decodeMetadata, type Intent } from './commit-metadata.ts';
import { logIdentity } from './log-identity.ts';

/** Why a partition is read from its start position. */
export type StartReason =
  /** The group's commit. */
  | 'committed'
  /** The ledger, which is ahead of the group's commit or exists without one. */
  | 'ledger'
  /** Neither exists: `kafka.start_from` decides. */
  | 'start_from'
  /** The partition was added after the group's first chunk. */
  | 'added'
  /** Retention has removed records that were not read. */
  | 'expired'
  /** The topic was deleted and recreated. */
  | 'recreated'
  /** The log was truncated: it ends before the last offset read. */
  | 'truncated';

export interface StartPosition {
  readonly reason: StartReason;
  /** Offset at which the next chunk begins. */
  readonly startOffset: number;
  /** Offset to read from: after `startOffset` where the log begins later. */
  readonly readOffset: number;
  /** Event time reached so far; undefined while unknown. */
  readonly watermarkMs: number | undefined;
  /** A predecessor's pending chunk at `startOffset`, which must be made again. */
  readonly intent: Intent | undefined;
  /** Offsets known to be lost before they were stored. */
  readonly lostOffsets: number;
  /** The group does not have this position: it must be committed first. */
  readonly mustCommit: boolean;
}

/**
 * Resolves the start position: the group's commit or the end of the ledger, whichever is further, if the log
 * still has it. A commit may be late, overwritten or expired. Otherwise the configuration decides. Pure
 * except for its queries.
 *
 * @throws OperatorError when a commit of another version cannot be read.
 */
export async function resolveStartPosition(
  claim: Pick<Claim, 'topic' | 'partition'>,
  found: FoundPartition,
  options: {
    readonly groupId: string;
    readonly startFrom: 'earliest' | 'latest';
    readonly store: Pick<ChunkStore, 'ledgerEnd' | 'groupBeginMs'>;
  },
): Promise<StartPosition> {
  const { topic, partition } = claim;
  const metadata = decodeMetadata(found.committed.metadata);
  const committed = found.committed.offset ?? -1;
  const ledger = await options.store.ledgerEnd(options.groupId, topic, partition);
  const stored = ledger?.endOffset ?? -1;
  if (committed < 0 && ledger === undefined) return beginning(topic, found, options);
  const pendingIntent = pending(committed, metadata);
  const isNew = await logIdentity.isNew(committed, ledger, found, pendingIntent);
  const isInDoubt = isNew || (pendingIntent !== undefined && ledger === undefined);
  if (isInDoubt && !(await logIdentity.isOf(committed, pendingIntent, ledger, found))) {
    return startAt('recreated', found.startOffset);
  }
  // A commit behind the ledger is obsolete, and so is its intent.
  const isCommit = committed >= stored || isNew;
  const watermarkMs = isCommit ? metadata?.watermarkMs : ledger?.watermarkMs;
  const intent = isCommit ? pendingIntent : undefined;
  const offset = isCommit ? committed : stored;
  if (offset > found.endOffset) return startAt('truncated', found.endOffset, { watermarkMs });
  if (offset < found.startOffset) return expired(offset, watermarkMs, intent, found);
  if (isCommit) return startAt('committed', offset, { watermarkMs, intent });
  return startAt('ledger', offset, { watermarkMs, ...committedAtOnce(offset, found) });
}

function startAt(
  reason: StartReason,
  startOffset: number,
  rest: Partial<StartPosition> = {},
): StartPosition {
  return {
    reason,
    startOffset,
    readOffset: startOffset,
    watermarkMs: undefined,
    intent: undefined,
    lostOffsets: 0,
    mustCommit: false,
    ...rest,
  };
}

/** Must be committed at once. Reading begins one record earlier, because a claim commits after a read. */
function committedAtOnce(offset: number, found: FoundPartition): Partial<StartPosition> {
  return { mustCommit: true, readOffset: Math.max(found.startOffset, offset - 1) };
}

/** An intent that ends where it begins is empty. */
function pending(offset: number, metadata: CommitMetadata | undefined): Intent | undefined {
  const intent = metadata?.intent;
  return intent !== undefined && intent.endOffset > offset ? intent : undefined;
}

/**
 * The log begins after the position. A predecessor's pending chunk is made again from its remaining records,
 * perhaps none. The tables show whether it is stored.
 */
function expired(
  offset: number,
  watermarkMs: number | undefined,
  intent: Intent | undefined,
  found: FoundPartition,
): StartPosition {
  return startAt('expired', intent === undefined ? found.startOffset : offset, {
    readOffset: found.startOffset,
    watermarkMs,
    intent,
    lostOffsets: Math.max(0, found.startOffset - (intent?.endOffset ?? offset)),
  });
}

/** Start position of a partition without commit and ledger. */
async function beginning(
  topic: string,
  found: FoundPartition,
  options: Parameters<typeof resolveStartPosition>[2],
): Promise<StartPosition> {
  if (options.startFrom === 'earliest') return startAt('start_from', found.startOffset);
  const beganMs = await options.store.groupBeginMs(options.groupId, topic);
  if (beganMs === undefined) {
    return startAt('start_from', found.endOffset, committedAtOnce(found.endOffset, found));
  }
  return startAt('added', await found.firstOffsetAt(beganMs));
}
