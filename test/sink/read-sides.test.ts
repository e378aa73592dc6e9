import type { ClickHouseClient } from '@clickhouse/client';
import { describe, expect, it } from 'vitest';
import { readMix, readSides } from '../../src/sink/read-sides.ts';

interface Asked {
  readonly query: string;
  readonly clickhouse_settings: Readonly<Record<string, unknown>>;
}

describe('sides of a comparison', () => {
  it('are merged by one thread, so that the same requests give the same verdict', async () => {
    const asked: Asked[] = [];
    const client = {
      exec: async (options: Asked) => {
        asked.push(options);
        return { stream: [] };
      },
    } as unknown as ClickHouseClient;
    const side = { version: '', fromSeconds: 0, toSeconds: 60 };
    const query = {
      ...{ model: 'm', region: '', requestType: '', coldStart: 'false', table: 'latency_1m' },
      ...{ blockSeconds: 60, a: side, b: side },
    };
    expect(await readSides(client, query)).toEqual([]);
    expect(await readMix(client, query, side)).toEqual([]);
    expect(asked).toHaveLength(3);
    for (const { query: text, clickhouse_settings } of asked) {
      expect(text).toContain('quantilesTDigestMergeState');
      expect(clickhouse_settings.max_threads).toBe(1);
    }
  });
});
