import type { ClickHouseClient } from '@clickhouse/client';
import { hourMs, minuteMs } from '../../base/time.ts';
import { firstWindowMs } from './window-range.ts';

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
