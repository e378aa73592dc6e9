import type { ClickHouseClient } from '@clickhouse/client';
import { hourMs, minuteMs } from '../../base/time.ts';
import { readRows } from '../client/read-query.ts';

/** Half-open range of window starts. */
export interface WindowRange {
  readonly fromMs: number;
  readonly toMs: number;
  readonly windowMs: number;
}

/** Start of a range's first window that is stored in a table; undefined without one. Cost: one lookup. */
export async function firstWindowMs(
  client: ClickHouseClient,
  table: 'latency_10s' | 'latency_1m' | 'latency_1h',
  { fromMs, toMs, windowMs }: WindowRange,
): Promise<number | undefined> {
  const [first] = await readRows<{ first_seconds: number }>(client, 'first_window', {
    table,
    fromSeconds: Math.floor(fromMs / 1000),
    toSeconds: Math.floor(toMs / 1000),
  });
  if (first === undefined) return undefined;
  return Math.max(fromMs, Math.floor((first.first_seconds * 1000) / windowMs) * windowMs);
}

const ever = { fromMs: 0, toMs: Date.UTC(2100, 0, 1) };

/** Start of the first minute that is stored, or of the first hour where minutes are kept less long; undefined without any. */
export async function firstStoredMs(client: ClickHouseClient): Promise<number | undefined> {
  const [minute, hour] = await Promise.all([
    firstWindowMs(client, 'latency_1m', { ...ever, windowMs: minuteMs }),
    firstWindowMs(client, 'latency_1h', { ...ever, windowMs: hourMs }),
  ]);
  if (minute === undefined || hour === undefined) return minute ?? hour;
  return hour < Math.floor(minute / hourMs) * hourMs ? hour : minute;
}

/**
 * First minute from a time on in which a model has requests; undefined without any.
 *
 * @param asked its `version` is undefined for all versions.
 */
export async function readFirstMinute(
  client: ClickHouseClient,
  { model, version, fromMs }: { model: string; version?: string; fromMs: number },
): Promise<number | undefined> {
  const fromSeconds = Math.max(0, Math.floor(fromMs / 1000));
  const [row] = await readRows<{ first_seconds: string }>(client, 'first_minute', {
    ...{ model, version: version ?? '', anyVersion: version === undefined, fromSeconds },
  });
  return row === undefined ? undefined : Number(row.first_seconds) * 1000;
}
