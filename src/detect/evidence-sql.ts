import { dimensions } from '../base/dimensions.ts';
import { storedQuantiles } from '../base/stored-quantiles.ts';
import type { Series } from '../baseline/series-window.ts';
import { dimensionSql, timeSql } from './quote-sql.ts';

const minuteMs = 60_000;
const contextMs = 30 * minuteMs;

export interface EvidenceSqlInput {
  readonly series: Series;
  readonly q: number;
  readonly startedAtMs: number;
  readonly windowMs: number;
}

/**
 * A query to paste: every stage of the series, window by window, from half an hour before the
 * anomaly began until half an hour after. Windows of a minute or more read the 1-minute table.
 */
export function evidenceSql({ series, q, startedAtMs, windowMs }: EvidenceSqlInput): string {
  const table = windowMs >= minuteMs ? 'latency_1m' : 'latency_10s';
  const levels = [...new Set([...storedQuantiles, q])].sort((x, y) => x - y).join(', ');
  const conditions = dimensions.map((dimension) => dimensionSql(series, dimension));
  return [
    'SELECT window_start, stage, sum(requests) AS requests,',
    `  quantilesTDigestMerge(${levels})(latency) AS q_ms`,
    `FROM ${table}`,
    `WHERE ${conditions.join(' AND ')}`,
    `  AND window_start >= ${timeSql(startedAtMs - contextMs)}`,
    `  AND window_start < ${timeSql(startedAtMs + contextMs)}`,
    'GROUP BY window_start, stage',
    'ORDER BY window_start, stage',
  ].join('\n');
}
