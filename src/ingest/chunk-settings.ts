import type { Dimension } from '../base/dimensions.ts';
import type { Facet } from '../base/facets.ts';
import type { Config } from '../config/schema.ts';

/**
 * Everything besides the records that determines a chunk's rows. The intent includes it, so that a successor
 * with another configuration makes the same rows.
 */
export interface ChunkSettings {
  readonly dimensions: readonly Dimension[];
  readonly facets: readonly Facet[];
  readonly allowedLatenessMs: number;
  readonly maxFutureMs: number;
  readonly graceMs: number;
  readonly maxCells: number;
  readonly maxMessageBytes: number;
  readonly maxDurationMs: number;
  readonly maxDimensionBytes: number;
}

export function chunkSettingsOf({ windows, limits }: Config): ChunkSettings {
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
  };
}
