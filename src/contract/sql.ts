import { type Dimension, dimensions, totalStage } from '../base/dimensions.ts';
import { dayMs, minuteMs } from '../base/time.ts';
import type { Series } from '../series/series-window.ts';
import { storedQuantiles } from '../sketch/stored-quantiles.ts';
import type { AnomalyEvent } from './anomaly-event.ts';

/**
 * A ClickHouse string literal on one line. ClickHouse needs only backslash and quote escaped. Control
 * characters are as well: a line break in a name would look like a line of the query or of a message.
 */
export function quoteSql(text: string): string {
  const escaped = text
    .replaceAll(/[\\']/g, (character) => `\\${character}`)
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, escapedBytes);
  return `'${escaped}'`;
}

/** The UTF-8 bytes of a text as `\xe2` each, as ClickHouse reads them within a literal. */
export function escapedBytes(text: string): string {
  return [...Buffer.from(text, 'utf8')]
    .map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`)
    .join('');
}

/** Condition on a dimension, such as "region = 'eu-west-1'". */
function dimensionSql(series: Series, dimension: Dimension): string {
  const value = series[dimension];
  return `${dimension} = ${typeof value === 'boolean' ? value : quoteSql(value)}`;
}

/** Condition on the own dimensions, where the series has any. */
function ownSql({ attributes }: Series): string[] {
  return attributes === undefined ? [] : [`attributes = ${quoteSql(attributes)}`];
}

function timeSql(ms: number): string {
  return `toDateTime(${Math.floor(ms / 1000)}, 'UTC')`;
}

const contextMs = 30 * minuteMs;

export interface EvidenceSqlInput {
  readonly series: Series;
  readonly q: number;
  readonly startedAtMs: number;
  readonly windowMs: number;
}

/**
 * A query to paste: every stage of the series, window by window, from half an hour before the anomaly
 * started until half an hour after. Windows of a minute or more read the 1-minute table.
 */
export function evidenceSql({ series, q, startedAtMs, windowMs }: EvidenceSqlInput): string {
  const table = windowMs >= minuteMs ? 'latency_1m' : 'latency_10s';
  const levels = [...new Set([...storedQuantiles, q])].sort((x, y) => x - y).join(', ');
  const conditions = dimensions.map((dimension) => dimensionSql(series, dimension));
  conditions.push(...ownSql(series));
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

export interface DriftSqlInput {
  /** Series in any version. */
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
  conditions.push(...ownSql(series), `stage = ${quoteSql(stage)}`);
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

export interface CountsSqlInput {
  readonly kind?: AnomalyEvent['kind'];
  readonly series: Series;
  readonly startedAtMs: number;
  /** True if it covers all series with the given values, not only the one series. */
  readonly coversAllSeries: boolean;
  /** The stage that stands for whole requests. */
  readonly stage?: string;
}

/**
 * A query to paste: requests and failures, minute by minute, from half an hour before the anomaly started
 * until half an hour after.
 */
export function countsSql(input: CountsSqlInput): string {
  const { kind, series, startedAtMs, coversAllSeries, stage } = input;
  const isColdStarts = kind === 'cold_starts';
  const conditions = dimensions.flatMap((dimension) => {
    const value = series[dimension];
    if (isColdStarts && dimension === 'cold_start') return [];
    if (coversAllSeries && (value === '' || value === false)) return [];
    return [dimensionSql(series, dimension)];
  });
  conditions.push(...ownSql(series), `stage = ${quoteSql(stage ?? totalStage)}`);
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
