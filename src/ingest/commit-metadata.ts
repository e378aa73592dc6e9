import { z } from 'zod';
import { OperatorError } from '../base/operator-error.ts';
import type { Chunk, LedgerEntry } from '../sink/chunks/chunk.ts';
import { type ChunkSettings, chunkSettings } from './chunk/chunk-settings.ts';

/** The ledger's counts of a chunk, without its range. */
export type ChunkCounts = Omit<
  LedgerEntry,
  'groupId' | 'topic' | 'partition' | 'logId' | 'startOffset' | 'endOffset'
>;

/**
 * A pending chunk that starts at the committed offset; it may already be stored. A successor uses the intent
 * to make the same chunk from the same records.
 */
export interface Intent {
  readonly endOffset: number;
  /** The clock by which the chunk's events were accepted or rejected. */
  readonly nowMs: number;
  readonly settings: ChunkSettings;
  readonly counts: ChunkCounts;
  /**
   * Counts of earlier senders, the latest first, if some records have expired while the chunk was pending.
   * Their inserts may still arrive.
   */
  readonly earlier?: readonly ChunkCounts[] | undefined;
}

/** Metadata of a committed offset (Kafka's limit: 4,096 bytes). */
export interface CommitMetadata {
  /** The log that the offset is of. */
  readonly logId: string;
  /** The database that has what is before the offset; undefined where the version did not say so. */
  readonly storeId?: string | undefined;
  /** Leader epoch of the record before the offset; -1 where it is not known. */
  readonly leaderEpoch: number;
  /** Event time that the partition had reached at the offset; undefined before its first event. */
  readonly watermarkMs: number | undefined;
  readonly intent?: Intent | undefined;
}

const MAGIC = 'tailmark/3';
/** Without log ids or leader epochs in tokens, so that a pending chunk has another token. */
const BEFORE = new Set(['tailmark/1', 'tailmark/2']);

const count = z.int().min(0);
const countsSchema = z
  .object({
    firstTimestampMs: z.number(),
    lastTimestampMs: z.number(),
    watermarkMs: z
      .number()
      .nullable()
      .transform((ms) => ms ?? Number.NEGATIVE_INFINITY),
    leaderEpoch: z.int(),
    records: count,
    consumed: count,
    aggregated: count,
    rejected: count,
    late: count,
    overflow: count,
    unmapped: count.default(0),
    weight: count.optional(),
    lateMerged: count,
    removedEvents: count.default(0),
    removedOffsets: count.default(0),
    rows: z.object({
      rowCount: count,
      samples: count,
      windowMinMs: z.number(),
      windowMaxMs: z.number(),
    }),
  })
  // Versions before weights: every event counted once.
  .transform(({ weight, ...counts }) => ({
    ...counts,
    weight: weight ?? counts.aggregated + counts.overflow,
  }));
const intentSchema: z.ZodType<Intent> = z.object({
  endOffset: count,
  nowMs: z.number(),
  settings: chunkSettings,
  counts: countsSchema,
  earlier: z.array(countsSchema).optional(),
});
const metadataSchema = z.object({
  v: z.string(),
  logId: z.string().default(''),
  storeId: z.string().optional(),
  leaderEpoch: z.int().default(-1),
  watermarkMs: z.number().optional(),
  intent: intentSchema.optional(),
});

/** The ledger's counts of a chunk, without its identity. */
export function countsOf(chunk: Chunk): ChunkCounts {
  const { groupId, topic, partition, logId, startOffset, endOffset, rows, ...counts } = chunk;
  const { rowCount, samples, windowMinMs, windowMaxMs } = rows;
  return { ...counts, rows: { rowCount, samples, windowMinMs, windowMaxMs } };
}

/** Serializes the metadata. A watermark before the first event is left out, because JSON has no infinity. */
export function encodeMetadata(metadata: CommitMetadata): string {
  const { logId, storeId, leaderEpoch, watermarkMs, intent } = metadata;
  const reachedMs = Number.isFinite(watermarkMs) ? watermarkMs : undefined;
  const rest = { leaderEpoch, watermarkMs: reachedMs, intent };
  return JSON.stringify({ v: MAGIC, logId, storeId, ...rest });
}

/**
 * Parses the metadata of a commit; undefined where it is empty or not tailmark's.
 *
 * @throws OperatorError when another version of tailmark wrote it. Ignoring its intent would count a pending
 *   chunk twice.
 */
export function decodeMetadata(metadata: string): CommitMetadata | undefined {
  if (!metadata.startsWith('{"v":"tailmark/')) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(metadata);
  } catch {
    throw unreadable(metadata);
  }
  const { success, data } = metadataSchema.safeParse(parsed);
  if (!success) throw unreadable(metadata);
  const { v, logId, storeId, leaderEpoch, watermarkMs, intent } = data;
  if (v !== MAGIC && !(BEFORE.has(v) && intent === undefined)) throw unreadable(metadata);
  return { logId, storeId, leaderEpoch, watermarkMs, intent };
}

function unreadable(metadata: string): OperatorError {
  const version = metadata.slice(6, metadata.indexOf('"', 6));
  return new OperatorError(
    'TAILMARK_COMMIT_VERSION',
    version === MAGIC
      ? `Cannot take over a partition: its commit metadata must be complete; it is ${metadata}`
      : `Cannot take over a partition: its commit metadata must be of ${MAGIC}; it is of ${version}`,
    {
      hint: 'Run the version that wrote it until nothing is pending, or a newer one.',
    },
  );
}
