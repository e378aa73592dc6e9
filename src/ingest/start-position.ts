import type { ChunkStore } from '../sink/chunks/chunk-store.ts';
import type { Claim, FoundPartition } from '../source/source.ts';
import { type CommitMetadata, decodeMetadata, type Intent } from './commit-metadata.ts';
import { logIdentity } from './log-identity.ts';

/** Why a partition is read from where it is read. */
export type StartReason =
  /** The group's commit. */
  | 'committed'
  /** The ledger, which is ahead of the group's commit or the only one there is. */
  | 'ledger'
  /** Neither: as `kafka.start_from` says. */
  | 'start_from'
  /** The partition came after the group had begun. */
  | 'added'
  /** Retention has removed records that were not read. */
  | 'expired'
  /** The log is another one: its topic was deleted and made anew. */
  | 'recreated'
  /** The log was cut back: its end lies before what was read. */
  | 'truncated';

/** Where a partition is taken up. */
export interface StartPosition {
  readonly reason: StartReason;
  /** Offset at which the next chunk begins. */
  readonly startOffset: number;
  /** Offset to read from: beyond `startOffset` where the log does not reach back to it. */
  readonly readOffset: number;
  /** Event time reached so far; undefined where nobody knows. */
  readonly watermarkMs: number | undefined;
  /** A predecessor's chunk that begins at `startOffset` and is to be made again. */
  readonly intent: Intent | undefined;
  /** Offsets that are gone before they were stored, as far as anybody can tell. */
  readonly lostOffsets: number;
  /** The place is to be committed before all else: the group does not know it. */
  readonly isFleeting: boolean;
}

/**
 * Decides where to take up a partition: at the group's commit or where its ledger ends, whichever is
 * further (a commit may be late, wiped or expired), if the log still has that place; else as
 * configured. Pure but for the questions it asks.
 *
 * @throws OperatorError when another version's commit cannot be read.
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
  const note = decodeMetadata(found.committed.metadata);
  const committed = found.committed.offset ?? -1;
  const ledger = await options.store.ledgerEnd(options.groupId, topic, partition);
  const stored = ledger?.endOffset ?? -1;
  if (committed < 0 && ledger === undefined) return beginning(topic, found, options);
  const begun = pending(committed, note);
  const isNew = await logIdentity.isNew(committed, ledger, found, begun);
  const isInDoubt = isNew || (begun !== undefined && ledger === undefined);
  if (isInDoubt && !(await logIdentity.isOf(committed, begun, ledger, found))) {
    return startAt('recreated', found.startOffset);
  }
  // A commit that the ledger has overtaken says nothing any more; nor does its intent.
  const isCommit = committed >= stored || isNew;
  const watermarkMs = isCommit ? note?.watermarkMs : ledger?.watermarkMs;
  const intent = isCommit ? begun : undefined;
  const offset = isCommit ? committed : stored;
  if (offset > found.endOffset) return startAt('truncated', found.endOffset, { watermarkMs });
  if (offset < found.startOffset) return expired(offset, watermarkMs, intent, found);
  if (isCommit) return startAt('committed', offset, { watermarkMs, intent });
  return startAt('ledger', offset, { watermarkMs, ...keptByFirstRecord(offset, found) });
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
    isFleeting: false,
    ...rest,
  };
}

/** To be committed at once; read from a record earlier, as a claim commits by what it has read. */
function keptByFirstRecord(offset: number, found: FoundPartition): Partial<StartPosition> {
  return { isFleeting: true, readOffset: Math.max(found.startOffset, offset - 1) };
}

/** An intent that ends where it begins is none. */
function pending(offset: number, note: CommitMetadata | undefined): Intent | undefined {
  const intent = note?.intent;
  return intent !== undefined && intent.endOffset > offset ? intent : undefined;
}

/**
 * The log begins behind the place. A chunk that a predecessor had begun is made again of what is
 * left of it, which may be nothing: the tables tell whether it is stored.
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

/** Nothing is known of the partition. */
async function beginning(
  topic: string,
  found: FoundPartition,
  options: Parameters<typeof resolveStartPosition>[2],
): Promise<StartPosition> {
  if (options.startFrom === 'earliest') return startAt('start_from', found.startOffset);
  const beganMs = await options.store.groupBeginMs(options.groupId, topic);
  if (beganMs === undefined) {
    return startAt('start_from', found.endOffset, keptByFirstRecord(found.endOffset, found));
  }
  return startAt('added', await found.firstOffsetAt(beganMs));
}
