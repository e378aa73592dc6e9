import type { SealedChunk } from './chunk/open-chunk.ts';
import type { LateShare } from './late-share.ts';
import type { RejectWarnings } from './letters/reject-warnings.ts';
import type { PersistContext } from './persist.ts';

export interface CountContext extends Pick<PersistContext, 'clock' | 'metrics'> {
  readonly lateShare: Pick<LateShare, 'count'>;
  /** Absent where nobody reads the log. */
  readonly rejectWarnings?: Pick<RejectWarnings, 'count'>;
}

/** Counts what is in a chunk, once it is stored. */
export function countStored(
  { chunk, letters, longTexts }: SealedChunk,
  { clock, metrics, lateShare, rejectWarnings }: CountContext,
): void {
  const { topic } = chunk;
  metrics.eventsConsumed.inc({ topic }, chunk.consumed);
  metrics.eventsAggregated.inc({ topic }, chunk.aggregated);
  metrics.eventsOverflowed.inc({ topic }, chunk.overflow);
  metrics.eventsUnmapped.inc({ topic }, chunk.unmapped);
  metrics.eventsLateMerged.inc({ topic }, chunk.lateMerged);
  lateShare.count(chunk, clock.nowMs());
  rejectWarnings?.count(chunk, letters, clock.elapsedMs());
  for (const { reason } of letters) metrics.eventsDropped.inc({ topic, reason });
  for (const { field, count } of longTexts.list()) metrics.longTexts.inc({ topic, field }, count);
  metrics.chunksFlushed.inc();
  metrics.chunkRows.inc(chunk.rows.rowCount);
}
