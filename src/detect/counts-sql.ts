import { dimensions, totalStage } from '../base/dimensions.ts';
import { storedQuantiles } from '../base/stored-quantiles.ts';
import type { Series } from '../baseline/series-window.ts';
import type { AnomalyEvent } from './anomaly-event.ts';
import { dimensionSql, quoteSql, timeSql } from './quote-sql.ts';

const minuteMs = 60_000;
const contextMs = 30 * minuteMs;

export interface CountsSqlInput {
  readonly kind?: AnomalyEvent['kind'];
  readonly series: Series;
  readonly startedAtMs: number;
  /** Whether it is of everything that the series' values name, rather than of the one series. */
  readonly isWhole: boolean;
  /** The stage that stands for whole requests. */
  readonly stage?: string;
}

/**
 * A query to paste: requests, and how many of them failed, minute by minute, from half an hour before the
 * anomaly began until half an hour after.
 */
export function countsSql(input: CountsSqlInput): string {
  const { kind, series, startedAtMs, isWhole, stage } = input;
  const isColdStarts = kind === 'cold_starts';
  const conditions = dimensions.flatMap((dimension) => {
    const value = series[dimension];
    if (isColdStarts && dimension === 'cold_start') return [];
    if (isWhole && (value === '' || value === false)) return [];
    return [dimensionSql(series, dimension)];
  });
  conditions.push(`stage = ${quoteSql(stage ?? totalStage)}`);
  return [
    'SELECT toStartOfMinute(window_start) AS minute, sum(counts.requests) AS requests,',
    isColdStarts
      ? '  sumIf(counts.requests, cold_start) AS cold_starts,'
      : '  sum(errors) AS errors, sum(timeouts) AS timeouts,',
    `  quantilesTDigestMerge(${storedQuantiles.join(', ')})(latency) AS q_ms`,
    'FROM latency_1m AS counts',
    `WHERE ${conditions.join(' AND ')}`,
    `  AND window_start >= ${timeSql(startedAtMs - contextMs)}`,
    `  AND window_start < ${timeSql(startedAtMs + contextMs)}`,
    'GROUP BY minute',
    'ORDER BY minute',
  ].join('\n');
}
