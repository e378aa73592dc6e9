import { hourMs } from '../base/time.ts';
import type { ChunkStore, LedgerEnd } from '../sink/chunks/chunk-store.ts';
import {
  clusterOf,
  generationOf,
  hasTopicId,
  truncatedId,
  withGeneration,
} from '../source/log-id.ts';
import { type Claim, type EpochEnd, type FoundPartition, remainingEnd } from '../source/source.ts';
import { type CommitMetadata, decodeMetadata, type Intent } from './commit-metadata.ts';
import { isOfOtherStore, otherStore } from './own-store.ts';

/** The reason for a partition's start position. */
export type StartReason =
  /** The group's commit. */
  | 'committed'
  /** The ledger, which is ahead of the group's commit or exists without one. */
  | 'ledger'
  /** Neither exists for this log: `kafka.start_from` decides. */
  | 'start_from'
  /** The partition was added after the group's first chunk. All its records count, removed ones included. */
  | 'added'
  /** Retention has removed records that were not read. */
  | 'expired'
  /** The topic was deleted and recreated. */
  | 'recreated'
  /** Records that were read are no longer in the log: an unclean leader election, or a reset of offsets. */
  | 'truncated';

/** The part of a partition's log that a reader knows and has not stored. */
export interface UnstoredLog {
  readonly logId: string;
  /** Offset after the last record that is stored. */
  readonly startOffset: number;
  /** Offset after the last record that it knows of. */
  readonly endOffset: number;
  /** The chunk that was begun at `startOffset`. */
  readonly intent: Intent | undefined;
}

export interface StartPosition {
  readonly reason: StartReason;
  /** The log that chunks are of from here on (source/log-id.ts). */
  readonly logId: string;
  /** Offset at which the next chunk begins. */
  readonly startOffset: number;
  /** Offset to read from: after `startOffset` where the log begins later. Records between are removed. */
  readonly readOffset: number;
  /** Lost records of the log before, which was deleted with its topic: the ledger gets them first. */
  readonly lost: UnstoredLog | undefined;
  /** Leader epoch of the record before `startOffset`; -1 while unknown. */
  readonly leaderEpoch: number;
  /** Event time reached so far; undefined while unknown. */
  readonly watermarkMs: number | undefined;
  /** A predecessor's pending chunk at `startOffset`, which must be made again. */
  readonly intent: Intent | undefined;
  /**
   * Offset and epoch at which the log was truncated within the pending chunk. The chunk's other records are
   * gone, and records from here on are of the log's next generation.
   */
  readonly truncatedAt: EpochEnd | undefined;
  /** From here on, removed records are a loss; those before were removed before the group began. */
  readonly removedFrom: number;
  /** Offsets known to be lost before they were stored. */
  readonly lostOffsets: number;
  /** The group does not have this position: it is committed first, or after the record before was read again. */
  readonly mustCommit: boolean;
  /** The log that the ledger knew last, where it knows others and not this one. */
  readonly knownLogId?: string | undefined;
}

export interface StartOptions {
  readonly groupId: string;
  /** The database; undefined where a commit of another one is not to be expected. */
  readonly storeId?: string | undefined;
  readonly startFrom: 'earliest' | 'latest';
  readonly store: Pick<ChunkStore, 'ledgerEnds' | 'groupBeginMs'>;
  /** The partition as this process last knew it. */
  readonly known?: UnstoredLog | undefined;
  /** Now, in Unix milliseconds. */
  readonly nowMs: number;
}

/**
 * A group that stored its first chunk so long ago has committed a position in each partition that was there. So a
 * partition without one was added since.
 */
const ALL_COMMITTED_MS = hourMs;

/**
 * Resolves the start position: the group's commit or the end of the ledger, whichever is further, if they are
 * of the log that is there now and it still has the records before them. A commit may be late, overwritten,
 * expired, or of another log of the same name. Otherwise the configuration decides. Pure except for its
 * queries.
 *
 * @throws OperatorError when a commit of another version cannot be read, or is of another database.
 */
export async function resolveStartPosition(
  claim: Pick<Claim, 'topic' | 'partition'>,
  found: FoundPartition,
  options: StartOptions,
): Promise<StartPosition> {
  const { topic, partition } = claim;
  const metadata = decodeMetadata(found.committed.metadata);
  if (isOfOtherStore(metadata, found.logId, options.storeId)) {
    const { offset = 0 } = found.committed;
    throw otherStore(options.groupId, { topic, partition, offset });
  }
  const ends = await options.store.ledgerEnds(options.groupId, topic, partition);
  const generation = latestGeneration(found.logId, metadata, ends);
  if (generation === 0) {
    const began = await unknownLog(topic, found, { metadata, ends }, options);
    const lost =
      began.reason === 'recreated' ? lostOf(found, { metadata, ends }, options) : undefined;
    const rest = lost === undefined ? {} : { lost, mustCommit: false };
    const removedFrom = began.reason === 'added' ? began.removedFrom : found.endOffset;
    const position = { ...began, removedFrom, ...rest };
    const known = ends.filter((end) => end.logId !== '');
    const latest = known.sort((a, b) => b.watermarkMs - a.watermarkMs)[0];
    return latest === undefined ? position : { ...position, knownLogId: latest.logId };
  }
  const logId = withGeneration(found.logId, generation);
  const end = ends.find((entry) => entry.logId === logId);
  // A commit without metadata is an operator's: it is of the log that is there.
  const isOfLog = metadata === undefined || metadata.logId === logId;
  const committed = isOfLog ? (found.committed.offset ?? -1) : -1;
  // A commit behind the ledger is obsolete, and so is its intent.
  const isCommit = committed >= (end?.endOffset ?? -1);
  const offset = isCommit ? committed : (end?.endOffset ?? 0);
  const intent = isCommit ? pending(offset, metadata) : undefined;
  const reached = {
    logId,
    watermarkMs: isCommit ? metadata?.watermarkMs : end?.watermarkMs,
    leaderEpoch: (isCommit ? metadata?.leaderEpoch : end?.leaderEpoch) ?? -1,
    intent,
  };
  const remains = await remainingEnd(intent?.counts.leaderEpoch ?? reached.leaderEpoch, found);
  const readTo = intent?.endOffset ?? offset;
  if (remains.endOffset < readTo) return truncated(offset, remains, reached, found);
  if (offset < found.startOffset) return expired(offset, reached, found);
  if (isCommit) return startAt('committed', offset, reached);
  return startAt('ledger', offset, { ...reached, ...committedAtOnce(offset, found) });
}

/** End of the records that were read before, a predecessor's pending chunk included, and are still there. */
export function readBefore(position: StartPosition): EpochEnd {
  const { truncatedAt, intent, leaderEpoch, startOffset } = position;
  if (truncatedAt !== undefined) return truncatedAt;
  if (intent === undefined) return { leaderEpoch, endOffset: startOffset };
  return { leaderEpoch: intent.counts.leaderEpoch, endOffset: intent.endOffset };
}

/** The latest generation of a log that the commit or the ledger has; 0 for none. */
function latestGeneration(
  logId: string,
  metadata: CommitMetadata | undefined,
  ends: readonly LedgerEnd[],
): number {
  const ids = [metadata?.logId, ...ends.map((end) => end.logId)];
  // The log of a file has the id '', and a partition without a commit has none.
  const known = ids.filter((id) => id !== undefined);
  return Math.max(0, ...known.map((id) => generationOf(id, logId) ?? 0));
}

interface Known {
  readonly metadata: CommitMetadata | undefined;
  readonly ends: readonly LedgerEnd[];
}

/** Start position in a log of which nothing is stored or pending. */
async function unknownLog(
  topic: string,
  found: FoundPartition,
  { metadata, ends }: Known,
  options: StartOptions,
): Promise<StartPosition> {
  const { logId, startOffset, endOffset } = found;
  const clusterId = clusterOf(logId);
  const isOfOldTopic = metadata !== undefined && clusterOf(metadata.logId) === clusterId;
  const offset = isOfOldTopic ? undefined : found.committed.offset;
  // Set by an operator, copied from another cluster with its metadata, or of a version without log ids.
  if (offset !== undefined) {
    const watermarkMs = metadata?.logId === '' ? metadata.watermarkMs : undefined;
    if (offset > endOffset) return startAt('truncated', endOffset, { logId });
    if (offset < startOffset) return expired(offset, { logId, watermarkMs }, found);
    return startAt('committed', offset, { logId, watermarkMs });
  }
  const isKnown = isOfOldTopic || isOfLogBefore(options.known, found);
  if (isKnown || ends.some((end) => clusterOf(end.logId) === clusterId)) {
    return startAt('recreated', startOffset, { logId, mustCommit: true });
  }
  const isEarliest = options.startFrom === 'earliest';
  if (isEarliest && startOffset === 0) return startAt('start_from', 0, { logId, mustCommit: true });
  const beganMs = await options.store.groupBeginMs(options.groupId, topic, clusterId);
  if (isEarliest) {
    const isAdded = beganMs !== undefined && options.nowMs - beganMs > ALL_COMMITTED_MS;
    if (!isAdded) return startAt('start_from', startOffset, { logId, mustCommit: true });
    const lost = { readOffset: startOffset, lostOffsets: startOffset };
    return startAt('added', 0, { logId, ...lost, mustCommit: true });
  }
  if (beganMs === undefined) {
    return startAt('start_from', endOffset, { logId, mustCommit: true });
  }
  const rest = { logId, removedFrom: endOffset, mustCommit: true };
  return startAt('added', await found.firstOffsetAt(beganMs), rest);
}

/**
 * Lost records of a topic that was deleted and recreated: of a chunk that was begun, and those that this
 * process knew of and had not stored. Nobody can read them any more.
 */
function lostOf(
  found: FoundPartition,
  { metadata, ends }: Known,
  { known, storeId }: StartOptions,
): UnstoredLog | undefined {
  const isOwn = metadata?.storeId === undefined || metadata.storeId === storeId;
  const committed = isOwn ? lastCommit(found, metadata) : undefined;
  const last = isOfLogBefore(known, found) ? known : committed;
  if (last === undefined) return undefined;
  const { logId } = last;
  const end = ends.find((each) => each.logId === logId);
  const all = [committed, last].filter((each) => each?.logId === logId);
  const startOffset = Math.max(end?.endOffset ?? 0, ...all.map((each) => each?.startOffset ?? 0));
  const intent = all.find((each) => each?.startOffset === startOffset && each.intent)?.intent;
  const endOffset = Math.max(last.endOffset, intent?.endOffset ?? 0);
  if (endOffset <= startOffset) return undefined;
  return { logId, startOffset, endOffset, intent };
}

/** True if this process knew another log of the partition, in the same cluster. */
function isOfLogBefore(
  known: UnstoredLog | undefined,
  { logId }: FoundPartition,
): known is UnstoredLog {
  if (known === undefined || clusterOf(known.logId) !== clusterOf(logId)) return false;
  return generationOf(known.logId, logId) === undefined;
}

/** The group's commit in the log before. Brokers forget it with the topic, at their own time. */
function lastCommit(
  { committed: { offset } }: FoundPartition,
  metadata: CommitMetadata | undefined,
): UnstoredLog | undefined {
  if (metadata === undefined || offset === undefined) return undefined;
  const intent = pending(offset, metadata);
  return { logId: metadata.logId, startOffset: offset, endOffset: offset, intent };
}

type Rest = Partial<StartPosition> & Pick<StartPosition, 'logId'>;

function startAt(reason: StartReason, startOffset: number, rest: Rest): StartPosition {
  return {
    reason,
    startOffset,
    readOffset: startOffset,
    lost: undefined,
    leaderEpoch: -1,
    watermarkMs: undefined,
    intent: undefined,
    truncatedAt: undefined,
    lostOffsets: 0,
    removedFrom: startOffset,
    mustCommit: false,
    ...rest,
  };
}

/** Must be committed. Reading begins one record earlier: it shows whether the log is the one that was stored. */
function committedAtOnce(offset: number, found: FoundPartition): Partial<StartPosition> {
  return { mustCommit: true, readOffset: Math.max(found.startOffset, offset - 1) };
}

/** An intent that ends where it begins is empty. */
function pending(offset: number, metadata: CommitMetadata | undefined): Intent | undefined {
  const intent = metadata?.intent;
  return intent !== undefined && intent.endOffset > offset ? intent : undefined;
}

/**
 * The log ends before what was read, or has other records there. Those count as well, in the log's next
 * generation. A predecessor's pending chunk is made again from the records that remain, perhaps none.
 */
function truncated(
  offset: number,
  remains: EpochEnd,
  reached: Rest,
  found: FoundPartition,
): StartPosition {
  const logId = truncatedId(reached.logId);
  // Without an id, a recreated topic looks the same.
  if (!hasTopicId(found.logId)) return startAt('recreated', found.startOffset, { logId });
  const { leaderEpoch, endOffset } = remains;
  // Retention may have removed records from there on as well.
  const lostOffsets = Math.max(0, found.startOffset - endOffset);
  if (reached.intent === undefined) {
    const readOffset = Math.max(found.startOffset, endOffset);
    return startAt('truncated', endOffset, {
      ...reached,
      logId,
      leaderEpoch,
      readOffset,
      lostOffsets,
    });
  }
  return startAt('truncated', offset, {
    ...reached,
    truncatedAt: remains,
    readOffset: Math.max(found.startOffset, Math.min(offset, endOffset)),
    lostOffsets,
  });
}

/**
 * The log begins after the position. A predecessor's pending chunk is made again from its remaining records,
 * perhaps none. The tables show whether it is stored. The ledger gets records that nobody has read as a
 * separate range.
 */
function expired(offset: number, reached: Rest, found: FoundPartition): StartPosition {
  const { intent } = reached;
  return startAt('expired', offset, {
    ...reached,
    // That of the records that are gone says nothing about the log from here on.
    leaderEpoch: -1,
    readOffset: found.startOffset,
    lostOffsets: Math.max(0, found.startOffset - (intent?.endOffset ?? offset)),
  });
}
