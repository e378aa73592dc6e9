import { createClient } from '@clickhouse/client';
import { describe, expect, it } from 'vitest';
import { eachWindow } from '../../src/sink/windows/each-window.ts';
import { useStack } from '../containers/stack.ts';
import { Rig } from './kit/rig.ts';

const stack = useStack();
const windowMs = 10_000;
const windows = 48;
const series = 300;
const stages = 3;
const fromMs = Math.floor(Date.now() / 120_000) * 120_000 - 3_600_000;
const range = { fromMs, toMs: fromMs + windows * windowMs, windowMs };

/** Windows of series with 40 requests each, and none in every twelfth. */
async function fill({ client }: Rig): Promise<void> {
  const state = `quantilesTDigest${'State'}(0.5, 0.9, 0.95, 0.99, 0.999)`;
  await client.command({
    query: `INSERT INTO latency_10s
        (window_start, model, host, stage, requests, sum_ms, min_ms, max_ms, latency)
      SELECT toDateTime(${fromMs / 1000} + 10 * w, 'UTC'), 'ranker', toString(h), concat('s', toString(s)),
          count(), sum(ms), min(ms), max(ms), ${state}(ms)
      FROM (
          SELECT arrayJoin(range(${windows})) AS w, arrayJoin(range(${series})) AS h,
              arrayJoin(range(${stages})) AS s, toFloat32(1 + cityHash64(w, h, s, n) % 1000) AS ms,
              arrayJoin(range(40)) AS n
      )
      WHERE w % 12 != 11
      GROUP BY w, h, s`,
  });
}

/** Reads all windows as a user with so much memory. */
async function read({ config, env }: Rig, memoryBytes: number) {
  const client = createClient({
    url: config.clickhouse.url,
    database: env.TAILMARK_CLICKHOUSE_DATABASE ?? '',
    clickhouse_settings: { max_memory_usage: String(memoryBytes), max_threads: 2 },
    log: { level: 127 },
  });
  const found: number[][] = [];
  const refused: [number, string][] = [];
  try {
    const onTooMuch = (count: number, setting: string) => void refused.push([count, setting]);
    for await (const at of eachWindow(client, range, { onTooMuch })) {
      const ofStages = at.windows.filter((window) => window.stages.size === stages);
      found.push([(at.startMs - fromMs) / windowMs, ofStages.length]);
    }
  } finally {
    await client.close();
  }
  return { found, refused };
}

describe('Reading for the detector', () => {
  it('halves pieces that are too large for max_memory_usage, gives each window once, and names the setting', async () => {
    // Its windows come from no chunk: `verify` has nothing to check.
    const rig = await Rig.open({ stack, name: 'limits' });
    try {
      await fill(rig);
      const all = Array.from({ length: windows }, (_, n) => [n, n % 12 === 11 ? 0 : series]);
      const free = await read(rig, 4e9);
      expect(free.found).toEqual(all);
      expect(free.refused).toEqual([]);
      let narrow = free;
      for (let bytes = 64e6; narrow.refused.length === 0; bytes = Math.floor(bytes / 1.5)) {
        narrow = await read(rig, bytes);
      }
      expect(narrow.found).toEqual(all);
      expect(new Set(narrow.refused.map(([, setting]) => setting))).toEqual(
        new Set(['max_memory_usage']),
      );
      await expect(read(rig, 1e6)).rejects.toThrow(
        'Cannot read for the detector: max_memory_usage must allow for one window of all series',
      );
    } finally {
      await rig.close();
    }
  });
});
