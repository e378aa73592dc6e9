import type { AssembleSettings } from '../../assemble/assemble-settings.ts';
import { decodeCommitted, type RestartPoint } from '../../assemble/restart-point.ts';
import { freshStart } from '../../assemble/trace-assembler.ts';
import { OperatorError } from '../../base/operator-error.ts';
import type { CommittedOffset, FoundPartition } from '../../source/source.ts';

/** Start of a partition, and a message for the operator. */
export interface AssemblyStart {
  readonly restart: RestartPoint;
  readonly reason: 'fresh' | 'resumed' | 'moved' | 'recreated' | 'truncated' | 'expired';
}

const OWN_METADATA = 'tailmark-assemble/';

/**
 * Returns where to begin. A commit of ours is gone on from exactly. Where its log is another one, or has lost
 * what it needs, open traces are lost and none is published twice: a trace whose spans are there in part is
 * rejected without its root.
 *
 * @throws OperatorError for a commit of another version.
 */
export function assemblyStart(
  committed: CommittedOffset,
  found: FoundPartition,
  settings: AssembleSettings,
  startFrom: 'earliest' | 'latest',
): AssemblyStart {
  const { startOffset, endOffset, logId } = found;
  const fresh = (offset: number, reason: AssemblyStart['reason']) => ({
    restart: freshStart(offset, settings),
    reason,
  });
  if (committed.offset === undefined) {
    return fresh(startFrom === 'latest' ? endOffset : startOffset, 'fresh');
  }
  const known = decodeCommitted(committed.offset, committed.metadata);
  if (known === undefined) {
    if (committed.metadata.startsWith(OWN_METADATA)) {
      throw new OperatorError(
        'TAILMARK_KAFKA_FAILED',
        'Cannot assemble traces: the commits of assemble.group_id must be of this version; they are not',
        { hint: 'Run the version that wrote them, or set another assemble.group_id.' },
      );
    }
    // Somebody has set the offset.
    return fresh(Math.min(Math.max(committed.offset, startOffset), endOffset), 'moved');
  }
  const { restart } = known;
  if (known.logId !== logId && known.logId !== '' && logId !== '') {
    return fresh(startOffset, 'recreated');
  }
  if (restart.position > endOffset) return fresh(endOffset, 'truncated');
  if (restart.offset < startOffset) {
    return fresh(Math.max(restart.position, startOffset), 'expired');
  }
  return { restart, reason: 'resumed' };
}
