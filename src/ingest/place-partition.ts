import type { ChunkStore, LedgerEnd } from '../sink/chunk-store.ts';
import type { Claim, FoundPartition } from '../source/source.ts';
import { type CommitNote, decodeNote, type Intent } from './commit-note.ts';

/** Why a partition is read from where it is read. */
export type PlaceReason =
  /** The group's commit. */
  | 'committed'
  /** No commit, but a ledger: the group's offsets have expired. */
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
export interface Place {
  readonly reason: PlaceReason;
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
  /** The place is to be committed before all else: it would be another one later. */
  readonly isFleeting: boolean;
}

/**
 * Decides where to take up a partition: at the group's commit if its log still has that place, else
 * where the ledger ends, else as configured. Pure but for the questions it asks.
 *
 * @throws OperatorError when another version's commit cannot be read.
 */
export async function placePartition(
  claim: Pick<Claim, 'topic' | 'partition'>,
  found: FoundPartition,
  options: {
    readonly groupId: string;
    readonly startFrom: 'earliest' | 'latest';
    readonly store: Pick<ChunkStore, 'ledgerEnd' | 'groupBeginMs'>;
  },
): Promise<Place> {
  const { topic, partition } = claim;
  const { groupId, store } = options;
  const { offset, metadata } = found.committed;
  const note = decodeNote(metadata);
  if (offset !== undefined && offset <= found.endOffset) {
    return offset < found.startOffset
      ? expired(offset, note, found)
      : place('committed', offset, {
          watermarkMs: note?.watermarkMs,
          intent: pending(offset, note),
        });
  }
  const ledger = await store.ledgerEnd(groupId, topic, partition);
  if (offset !== undefined) return elsewhere(ledger, found, note?.watermarkMs);
  if (ledger === undefined) return beginning(topic, found, options);
  if (ledger.endOffset > found.endOffset || (await isNewLog(ledger, found))) {
    return elsewhere(ledger, found, ledger.watermarkMs);
  }
  const { endOffset, watermarkMs } = ledger;
  if (endOffset < found.startOffset) {
    const lostOffsets = found.startOffset - endOffset;
    return place('expired', found.startOffset, { watermarkMs, lostOffsets });
  }
  return place('ledger', endOffset, { watermarkMs });
}

function place(reason: PlaceReason, startOffset: number, rest: Partial<Place> = {}): Place {
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

/** An intent that ends where it begins is none. */
function pending(offset: number, note: CommitNote | undefined): Intent | undefined {
  const intent = note?.intent;
  return intent !== undefined && intent.endOffset > offset ? intent : undefined;
}

/**
 * The log begins behind the commit. A chunk that a predecessor had begun is made again of what is
 * left of it, which may be nothing: the tables tell whether it is stored.
 */
function expired(offset: number, note: CommitNote | undefined, found: FoundPartition): Place {
  const intent = pending(offset, note);
  return place('expired', intent === undefined ? found.startOffset : offset, {
    readOffset: found.startOffset,
    watermarkMs: note?.watermarkMs,
    intent,
    lostOffsets: Math.max(0, found.startOffset - (intent?.endOffset ?? offset)),
  });
}

/** The log ends before what was read: it is another one, or it was cut back to its end. */
async function elsewhere(
  ledger: LedgerEnd | undefined,
  found: FoundPartition,
  watermarkMs: number | undefined,
): Promise<Place> {
  if (ledger === undefined || (await isNewLog(ledger, found))) {
    return place('recreated', found.startOffset);
  }
  return place('truncated', found.endOffset, { watermarkMs });
}

/** Whether all that the log holds is later than what was stored last: a topic made anew. */
async function isNewLog(ledger: LedgerEnd, found: FoundPartition): Promise<boolean> {
  if (found.startOffset === found.endOffset) return ledger.endOffset > found.endOffset;
  const [first, firstLater] = await Promise.all([
    found.firstOffsetAt(0),
    found.firstOffsetAt(ledger.lastTimestampMs + 1),
  ]);
  return first === firstLater && first < ledger.endOffset;
}

/** Nothing is known of the partition. */
async function beginning(
  topic: string,
  found: FoundPartition,
  options: Parameters<typeof placePartition>[2],
): Promise<Place> {
  if (options.startFrom === 'earliest') return place('start_from', found.startOffset);
  const beganMs = await options.store.groupBeginMs(options.groupId, topic);
  // Read one record earlier: there is nothing to commit by before there is something to read.
  if (beganMs === undefined) {
    const readOffset = Math.max(found.startOffset, found.endOffset - 1);
    return place('start_from', found.endOffset, { readOffset, isFleeting: true });
  }
  return place('added', await found.firstOffsetAt(beganMs));
}
