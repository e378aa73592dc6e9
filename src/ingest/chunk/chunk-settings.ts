import { z } from 'zod';
import type { Config } from '../../config/schema.ts';
import { dimensionName, facetName } from '../../config/setting-types.ts';
import { countedObjectives } from '../../config/slos.ts';

const count = z.int().min(0);

/**
 * Everything besides the records that determines a chunk's rows. The intent includes it, so that a successor
 * with another configuration makes the same rows.
 */
export const chunkSettings = z.object({
  dimensions: z.array(dimensionName),
  facets: z.array(facetName),
  allowedLatenessMs: z.number(),
  maxFutureMs: z.number(),
  graceMs: z.number(),
  maxCells: count,
  maxMessageBytes: count,
  maxDurationMs: z.number(),
  maxDimensionBytes: count,
  /** Joint objectives that are counted; absent: none. */
  objectives: z
    .array(
      z.object({
        thresholds: z.record(z.string(), z.number()),
        match: z.array(z.partialRecord(dimensionName, z.string())).readonly(),
      }),
    )
    .optional(),
  /** Identifies the format of the topic and its rules; absent: timing events. */
  format: z.string().optional(),
});
export type ChunkSettings = z.output<typeof chunkSettings>;

/** @param format of the topic (TopicFormats.identityOf). */
export function chunkSettingsOf(
  { windows, limits, detect }: Config,
  format?: string,
): ChunkSettings {
  const objectives = countedObjectives(detect.slos);
  return {
    dimensions: windows.dimensions,
    facets: windows.facets,
    allowedLatenessMs: windows.allowed_lateness,
    maxFutureMs: windows.max_future,
    graceMs: windows.grace,
    maxCells: limits.max_series,
    maxMessageBytes: limits.max_message_bytes,
    maxDurationMs: limits.max_duration,
    maxDimensionBytes: limits.max_dimension_bytes,
    ...(objectives.length > 0 && { objectives }),
    ...(format === undefined ? {} : { format }),
  };
}
