import type { ClickHouseClient } from '@clickhouse/client';
import { TrafficProfile } from '../baseline/traffic-profile.ts';
import type { TrafficBlock } from '../detect/detector.ts';
import { readQuery } from '../sink/read-query.ts';

const dayMs = 86_400_000;
const blockMs = TrafficProfile.blockMs;
/** What a profile holds. */
const rememberedMs = 8 * dayMs;

/** What every model, and all of them together (''), had of requests in the eight days before, by blocks. */
export async function readTraffic(
  client: ClickHouseClient,
  untilMs: number,
): Promise<TrafficBlock[]> {
  const toMs = Math.floor(untilMs / blockMs) * blockMs;
  const result = await client.query({
    query: readQuery('traffic_blocks'),
    query_params: {
      blockSeconds: blockMs / 1000,
      fromSeconds: Math.max(0, toMs - rememberedMs) / 1000,
      toSeconds: toMs / 1000,
    },
    format: 'JSONEachRow',
  });
  const rows = await result.json<{ model: string; at_seconds: string; requests: string }>();
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
