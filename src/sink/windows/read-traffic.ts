import type { ClickHouseClient } from '@clickhouse/client';
import { dayMs } from '../../base/time.ts';
import { TrafficProfile } from '../../baseline/traffic-profile.ts';
import type { TrafficBlock } from '../../detect/detector.ts';
import { readRows } from '../client/read-query.ts';
import { eachPiece } from './each-piece.ts';
import { firstWindowMs } from './window-range.ts';

const blockMs = TrafficProfile.blockMs;
/** Length of a diurnal profile. */
const rememberedMs = 8 * dayMs;

/**
 * Reads the requests of every model, and of all together (''), in the eight days before: in blocks, oldest
 * first, piece by piece.
 */
export async function* readTraffic(
  client: ClickHouseClient,
  untilMs: number,
): AsyncGenerator<TrafficBlock[], void> {
  const toMs = Math.floor(untilMs / blockMs) * blockMs;
  const range = { fromMs: Math.max(0, toMs - rememberedMs), toMs, windowMs: blockMs };
  const firstMs = await firstWindowMs(client, 'latency_1m', range);
  if (firstMs === undefined) return;
  const stored = { ...range, fromMs: firstMs };
  yield* eachPiece(stored, 'ten minutes of all models', async (fromMs, endMs) => {
    const rows = await readRows<TrafficRow>(client, 'traffic_blocks', {
      blockSeconds: blockMs / 1000,
      fromSeconds: fromMs / 1000,
      toSeconds: endMs / 1000,
    });
    return withAllModels(rows);
  });
}

interface TrafficRow {
  readonly model: string;
  readonly at_seconds: string;
  readonly requests: string;
}

/** Returns the blocks in order of time, with blocks for all models together. */
function withAllModels(rows: readonly TrafficRow[]): TrafficBlock[] {
  const blocks: TrafficBlock[] = [];
  let all = { model: '', startMs: Number.NaN, requests: 0 };
  for (const row of rows) {
    const startMs = Number(row.at_seconds) * 1000;
    const requests = Number(row.requests);
    blocks.push({ model: row.model, startMs, requests });
    if (all.startMs !== startMs) {
      all = { model: '', startMs, requests: 0 };
      blocks.push(all);
    }
    all.requests += requests;
  }
  return blocks;
}
