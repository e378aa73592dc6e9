import type { ClickHouseClient } from '@clickhouse/client';
import type { DimensionName } from '../../base/dimensions.ts';
import { minuteMs } from '../../base/time.ts';
import type { BoundedQuantile } from '../../sketch/censored-digest.ts';
import { repeatableSettings } from '../client/query-settings.ts';
import { readQuery, rowsOf } from '../client/read-query.ts';
import { columnOf } from '../read-seen-values.ts';
import { boundedQuantiles, type CensoredColumns, type Extremes } from './bounded-quantiles.ts';

/** Tails of one stage of one model over a range, in milliseconds. */
export interface StageTails {
  readonly model: string;
  readonly stage: string;
  /** Value of the dimension that they are by; absent where they are by none. */
  readonly value?: string;
  readonly requests: number;
  /** Requests that ended in an error or a timeout. */
  readonly failed: number;
  readonly mean_ms: number;
  readonly p50_ms: number;
  readonly p90_ms: number;
  readonly p95_ms: number;
  readonly p99_ms: number;
  readonly p999_ms: number;
  readonly max_ms: number;
  /** Requests that were given up: their durations are lower bounds. */
  readonly censored: number;
  /** Percentiles that are lower bounds: how much longer is not known. */
  readonly at_least: readonly PercentileName[];
}

/** Percentiles of tails and their levels. */
export const percentiles = {
  p50_ms: 0.5,
  p90_ms: 0.9,
  p95_ms: 0.95,
  p99_ms: 0.99,
  p999_ms: 0.999,
} as const;
export type PercentileName = keyof typeof percentiles;

const percentileNames = Object.keys(percentiles) as PercentileName[];
const levels = Object.values(percentiles);

/** Percentiles of tails by name, and which of them are lower bounds. */
export function namedPercentiles(quantiles: readonly (BoundedQuantile | undefined)[]) {
  const msOf = percentileNames.map((name, i) => [name, quantiles[i]?.ms ?? Number.NaN]);
  return {
    ...(Object.fromEntries(msOf) as Record<PercentileName, number>),
    at_least: percentileNames.filter((_, i) => quantiles[i]?.isAtLeast === true),
  };
}

/** Selects what to read; '' matches any value. */
export interface TailsQuery {
  readonly fromMs: number;
  readonly toMs: number;
  readonly model: string;
  readonly stage: string;
  readonly version: string;
  readonly region: string;
  readonly requestType: string;
  readonly coldStart: '' | 'true' | 'false';
  /** Dimension whose values have separate tails; absent: none. */
  readonly by?: DimensionName | undefined;
  /** Pairs that the text of the own dimensions has (`attributePair`); none matches any. */
  readonly attributePairs?: readonly string[] | undefined;
}

export const resolutions = ['10s', '1m', '1h', '1d'] as const;
export type Resolution = (typeof resolutions)[number];

/** The coarsest windows that still divide a range into about 30. */
export function resolutionOf(rangeMs: number): Resolution {
  if (rangeMs <= 30 * minuteMs) return '10s';
  if (rangeMs <= 36 * 60 * minuteMs) return '1m';
  if (rangeMs <= 60 * 24 * 60 * minuteMs) return '1h';
  return '1d';
}

export const windowSeconds: Readonly<Record<Resolution, number>> = {
  '10s': 10,
  '1m': 60,
  '1h': 3_600,
  '1d': 86_400,
};

/**
 * The next coarser table, and the middle of a range that its whole windows cover; empty without any. So a month of
 * one model takes thirty one-day windows per series, and some hours at its ends.
 */
export function coarsePart(resolution: Resolution, fromS: number, toS: number) {
  const coarse = resolutions[resolutions.indexOf(resolution) + 1] ?? resolution;
  const step = windowSeconds[coarse];
  const fromSeconds = Math.ceil(fromS / step) * step;
  const toSeconds = Math.max(fromSeconds, Math.floor(toS / step) * step);
  return { table: `latency_${coarse}`, fromSeconds, toSeconds };
}

/**
 * Reads tails by model and stage over a range, widened to whole windows of its resolution. Uses coarser
 * windows where they fit, because they contain the same requests. One thread merges them, as it does for
 * pages: so both have the same numbers.
 */
export async function readTails(
  client: ClickHouseClient,
  query: TailsQuery,
  resolution: Resolution = resolutionOf(query.toMs - query.fromMs),
): Promise<StageTails[]> {
  const { fromMs, toMs, by, ...filters } = query;
  const step = windowSeconds[resolution];
  const fromSeconds = Math.floor(Math.max(0, fromMs) / 1000 / step) * step;
  const toSeconds = Math.ceil(toMs / 1000 / step) * step;
  const coarse = coarsePart(resolution, fromSeconds, toSeconds);
  const parameters = {
    ...filters,
    attributePairs: [...(filters.attributePairs ?? [])],
    ...groupedBy(by ?? 'stage'),
    table: `latency_${resolution}`,
    fromSeconds,
    toSeconds,
    coarseTable: coarse.table,
    coarseFromSeconds: coarse.fromSeconds,
    coarseToSeconds: coarse.toSeconds,
  };
  type Text = 'model' | 'stage' | 'value' | 'requests' | 'failed' | 'mean_ms';
  type Row = Record<Text, string> & CensoredColumns & Extremes & { q: readonly number[] };
  const rows = await rowsOf<Row>(client, readQuery('tails'), parameters, repeatableSettings);
  return rows.map((row) => {
    const { min_ms, max_ms } = row;
    return {
      model: row.model,
      stage: row.stage,
      ...(by === undefined
        ? {}
        : { value: by === 'cold_start' ? startName(row.value) : row.value }),
      requests: Number(row.requests),
      failed: Number(row.failed),
      // A sum is of whole microseconds: it may not leave the range of the values.
      mean_ms: Math.min(Math.max(Number(row.mean_ms), Number(min_ms)), Number(max_ms)),
      ...namedPercentiles(boundedQuantiles(levels, row.q.map(Number), row)),
      max_ms: Number(max_ms),
      censored: Number(row.censored),
    };
  });
}

/** Parameters of a query with rows by a column, or by an own dimension. */
export function groupedBy(name: DimensionName | 'stage') {
  const { dimension: by, attribute: byAttribute } = columnOf(name);
  return { by, byAttribute };
}

/** Cold starts and warm ones by name, as pages have them. */
function startName(coldStart: string | undefined): string {
  return coldStart === 'true' ? 'cold' : 'warm';
}
