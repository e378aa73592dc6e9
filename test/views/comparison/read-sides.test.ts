import type { ClickHouseClient } from '@clickhouse/client';
import { describe, expect, it } from 'vitest';
import { TDigest } from '../../../src/sketch/t-digest.ts';
import { readMixes, readSides } from '../../../src/views/comparison/read-sides.ts';

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
      query: async (options: Asked) => {
        asked.push(options);
        return { json: async () => [] };
      },
    } as unknown as ClickHouseClient;
    const side = { version: '', fromSeconds: 0, toSeconds: 60 };
    const query = {
      ...{ model: 'm', region: '', requestType: '', coldStart: 'false', table: 'latency_1m' },
      ...{ attributePairs: [], blockSeconds: 60, a: side, b: side },
    };
    expect((await readSides(client, query)).minutes).toEqual([]);
    const stages = new Map([['total', TDigest.fromCentroids([1], [1])]]);
    const minute = { requests: 1, failed: 0, stages };
    const ofType = { ...query, requestType: 'rank' };
    const none = { parts: [], sizes: [] };
    expect(
      await readMixes(client, ofType, [{ startMs: 0, candidate: minute, baseline: minute }]),
    ).toEqual([none, none]);
    const merging = asked.filter(({ query: text }) => text.includes('quantilesTDigestMerge'));
    // The others count sizes: whole numbers, which add up to the same in any order.
    expect([merging.length, asked.length]).toEqual([5, 7]);
    for (const { clickhouse_settings } of merging) {
      expect(clickhouse_settings.max_threads).toBe(1);
    }
  });
});
