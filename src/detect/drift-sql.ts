import { dimensions } from '../base/dimensions.ts';
import { storedQuantiles } from '../base/stored-quantiles.ts';
import type { Series } from '../baseline/series-window.ts';
import { dimensionSql, quoteSql, timeSql } from './quote-sql.ts';

const dayMs = 86_400_000;

export interface DriftSqlInput {
  /** Of any version. */
  readonly series: Series;
  /** The stage that stands for whole requests. */
  readonly stage: string;
  readonly startedAtMs: number;
}

/**
 * A query to paste: the series, all its versions together, hour by hour, from eight days before to two
 * days after.
 */
export function driftSql({ series, stage, startedAtMs }: DriftSqlInput): string {
  const conditions = dimensions
    .filter((dimension) => dimension !== 'version')
    .map((dimension) => dimensionSql(series, dimension));
  conditions.push(`stage = ${quoteSql(stage)}`);
  return [
    'SELECT window_start AS hour, sum(requests) AS requests,',
    `  quantilesTDigestMerge(${storedQuantiles.join(', ')})(latency) AS q_ms`,
    'FROM latency_1h',
    `WHERE ${conditions.join(' AND ')}`,
    `  AND window_start >= ${timeSql(startedAtMs - 8 * dayMs)}`,
    `  AND window_start < ${timeSql(startedAtMs + 2 * dayMs)}`,
    'GROUP BY hour',
    'ORDER BY hour',
  ].join('\n');
}
