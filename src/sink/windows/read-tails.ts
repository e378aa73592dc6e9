import type { ClickHouseClient } from '@clickhouse/client';
import type { DimensionName } from '../../base/dimensions.ts';
import { minuteMs } from '../../base/time.ts';
import { repeatableSettings } from '../client/query-settings.ts';
import { readQuery, rowsOf } from '../client/read-query.ts';
import { columnOf } from '../read-seen-values.ts';

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
  type Row = Record<keyof StageTails | 'min_ms', string>;
  const rows = await rowsOf<Row>(client, readQuery('tails'), parameters, repeatableSettings);
  return rows.map((row) => {
    // Sums are of whole microseconds, quantiles of 32 bits: neither may leave the range of the values.
    const ms = (name: 'mean_ms' | Quantile) =>
      Math.min(Math.max(Number(row[name]), Number(row.min_ms)), Number(row.max_ms));
    return {
      model: row.model,
      stage: row.stage,
      ...(by === undefined
        ? {}
        : { value: by === 'cold_start' ? startName(row.value) : row.value }),
      requests: Number(row.requests),
      failed: Number(row.failed),
      mean_ms: ms('mean_ms'),
      p50_ms: ms('p50_ms'),
      p90_ms: ms('p90_ms'),
      p95_ms: ms('p95_ms'),
      p99_ms: ms('p99_ms'),
      p999_ms: ms('p999_ms'),
      max_ms: Number(row.max_ms),
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

type Quantile = 'p50_ms' | 'p90_ms' | 'p95_ms' | 'p99_ms' | 'p999_ms';
