import type { ClickHouseClient } from '@clickhouse/client';
import { describe, expect, it } from 'vitest';
import { coarsePart, readTails, resolutionOf } from '../../../src/sink/windows/read-tails.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const lengthMs = { '10s': 10_000, '1m': minute, '1h': hour, '1d': day } as const;

describe('resolutionOf', () => {
  it.each([
    [0, '10s'],
    [30 * minute, '10s'],
    [30 * minute + 1, '1m'],
    [36 * hour, '1m'],
    [36 * hour + 1, '1h'],
    [60 * day, '1h'],
    [60 * day + 1, '1d'],
    [3650 * day, '1d'],
  ])('of %d ms is %s', (rangeMs, resolution) => {
    expect(resolutionOf(rangeMs)).toBe(resolution);
  });

  it('shows at least 30 windows of a range that has them', () => {
    for (let rangeMs = 5 * minute; rangeMs < 400 * day; rangeMs *= 1.1) {
      const windows = rangeMs / lengthMs[resolutionOf(rangeMs)];
      expect(windows).toBeGreaterThanOrEqual(29);
    }
  });
});

describe('coarsePart', () => {
  const noon = 1_790_035_200 + 12 * 3_600;

  it.each([
    ['1h', noon, noon + 30 * 86_400, 'latency_1d', 1_790_121_600, 1_790_121_600 + 29 * 86_400],
    ['1h', noon - 12 * 3_600, noon + 12 * 3_600, 'latency_1d', noon - 43_200, noon + 43_200],
    ['1m', noon + 60, noon + 7_200, 'latency_1h', noon + 3_600, noon + 7_200],
    ['10s', noon + 10, noon + 130, 'latency_1m', noon + 60, noon + 120],
    ['1d', noon - 43_200, noon + 43_200, 'latency_1d', noon - 43_200, noon + 43_200],
  ] as const)(
    'of %s windows from %i to %i',
    (resolution, from, to, table, fromSeconds, toSeconds) => {
      expect(coarsePart(resolution, from, to)).toEqual({ table, fromSeconds, toSeconds });
    },
  );

  it('is empty where no window fits', () => {
    const { fromSeconds, toSeconds } = coarsePart('1h', noon, noon + 7_200);
    expect(toSeconds).toBe(fromSeconds);
  });
});

describe('readTails', () => {
  const filters = { model: 'm', stage: '', version: '', region: '', requestType: '' } as const;
  const range = { fromMs: 1_790_000_012_345, toMs: 1_790_000_098_765, coldStart: '' } as const;

  it.each([
    ['10s', 1_790_000_010, 1_790_000_100],
    ['1m', 1_789_999_980, 1_790_000_100],
    ['1h', 1_789_999_200, 1_790_002_800],
    ['1d', 1_789_948_800, 1_790_035_200],
  ] as const)('widens a range to whole windows of %s', async (resolution, from, to) => {
    const { client, asked } = listeningClient([]);
    expect(await readTails(client, { ...filters, ...range }, resolution)).toEqual([]);
    expect(asked).toMatchObject([
      { table: `latency_${resolution}`, fromSeconds: from, toSeconds: to, model: 'm' },
    ]);
  });

  it('begins at the epoch at the earliest, and gives numbers for ClickHouse’s texts', async () => {
    const row = { model: 'm', stage: 'total', requests: '12', failed: '1', mean_ms: 3.5 };
    const read = { ...row, ...noneCensored, q: [3, 4, 5, 6, 7], min_ms: 2, max_ms: 8 };
    const { client, asked } = listeningClient([read]);
    const tails = await readTails(client, { ...filters, ...range, fromMs: -5 }, '10s');
    expect(asked).toMatchObject([{ fromSeconds: 0 }]);
    const percentiles = { p50_ms: 3, p90_ms: 4, p95_ms: 5, p99_ms: 6, p999_ms: 7 };
    expect(tails).toEqual([
      { ...row, ...percentiles, requests: 12, failed: 1, max_ms: 8, censored: 0, at_least: [] },
    ]);
  });

  it.each([
    // Below a microsecond, sums are 0.
    [
      { min_ms: 0.0004, mean_ms: 0, q: [0.0004, 0.0004, 0.0004, 0.0004, 0.0004], max_ms: 0.0004 },
      [0.0004, 0.0004],
    ],
    // Of 32 bits, 123.456 is a little more.
    [{ min_ms: 1, mean_ms: 50, q: [1, 1, 1, 1, 123.4561], max_ms: 123.456 }, [50, 123.456]],
  ])('keeps mean and quantiles between least and greatest value', async (read, [mean, p999]) => {
    const row = { model: 'm', stage: 'total', requests: '1', failed: '0' };
    const { client } = listeningClient([{ ...row, ...noneCensored, ...read }]);
    const [tails] = await readTails(client, { ...filters, ...range }, '10s');
    expect([tails?.mean_ms, tails?.p999_ms]).toEqual([mean, p999]);
  });
});

const noneCensored = { censored: '0', ended_digest: '', censored_digest: '', mixed_digest: '' };

/** A client that records its calls and returns the given rows. */
function listeningClient(rows: readonly object[]) {
  const asked: unknown[] = [];
  const query = async ({ query_params }: { query_params: unknown }) => {
    asked.push(query_params);
    return { json: async () => rows };
  };
  return { client: { query } as unknown as ClickHouseClient, asked };
}
