import type { ClickHouseClient } from '@clickhouse/client';
import { describe, expect, it } from 'vitest';
import {
  learnableFromMs,
  sampledStarts,
  windowsWithin,
} from '../../../src/roles/detect/learnable-past.ts';

const windowMs = 10_000;
const toMs = 1_700_000_000_000;
const pastOf = (windows: number) => ({ fromMs: toMs - windows * windowMs, toMs, windowMs });

/** A table in which the window of that start has so many stages. */
function tableOf(stagesAt: (startMs: number) => number) {
  const asked: number[] = [];
  const client = {
    query: async ({ query_params }: { query_params: { starts: number[] } }) => {
      asked.push(...query_params.starts);
      const rows = query_params.starts.map((start) => {
        return { start, stages: String(stagesAt(start * 1000)) };
      });
      return { json: async () => rows.filter(({ stages }) => stages !== '0') };
    },
  };
  return { asked, client: client as unknown as ClickHouseClient };
}

const learnt = async (windows: number, stagesAt: (startMs: number) => number) => {
  const fromMs = await learnableFromMs(tableOf(stagesAt).client, pastOf(windows), 20);
  return (toMs - fromMs) / windowMs;
};

describe('the past that a first start learns', () => {
  it('is all of it, where that takes a minute or less', async () => {
    expect(await learnt(720, () => 4_166)).toBe(720);
    expect(await learnt(720, () => 0)).toBe(720);
    expect(await learnt(5, () => 100)).toBe(5);
  });

  it('is its newest part where there is more: three million stages', async () => {
    expect(await learnt(720, () => 20_000)).toBe(150);
    expect(await learnt(720, () => 40_000)).toBe(75);
  });

  it('counts the newest windows, not older ones', async () => {
    const hourAgoMs = toMs - 3_600_000;
    expect(await learnt(720, (ms) => (ms < hourAgoMs ? 100_000 : 1_000))).toBe(360 + 26);
    expect(await learnt(720, (ms) => (ms < hourAgoMs ? 0 : 20_000))).toBe(150);
  });

  it('is never less than three times a baseline', async () => {
    expect(await learnt(720, () => 1_000_000)).toBe(60);
    expect(await learnt(40, () => 1_000_000)).toBe(40);
  });

  it('reads twelve windows, in the middle of equal parts, all in the past', () => {
    const starts = sampledStarts(pastOf(720));
    expect(starts.map((startMs) => (toMs - startMs) / windowMs)).toEqual([
      30, 90, 150, 210, 270, 330, 390, 450, 510, 570, 630, 690,
    ]);
    expect(sampledStarts(pastOf(3))).toEqual([1, 2, 3].map((n) => toMs - n * windowMs));
    expect(sampledStarts(pastOf(0))).toEqual([]);
  });

  it('reads all of a window that is longer than those of the table', async () => {
    const { asked, client } = tableOf(() => 1);
    await learnableFromMs(client, { fromMs: toMs - 60_000, toMs, windowMs: 30_000 }, 20);
    const seconds = toMs / 1000;
    expect(asked).toEqual([-30, -20, -10, -60, -50, -40].map((s) => seconds + s));
  });

  it('ends within the part in which the budget is spent', () => {
    expect(windowsWithin([10_000, 10_000, 1_000_000], 300)).toBe(201);
    expect(windowsWithin([], 0)).toBe(0);
  });
});
