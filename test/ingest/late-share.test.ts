import { beforeEach, describe, expect, it } from 'vitest';
import { createMetrics, type Metrics } from '../../src/base/telemetry/metrics.ts';
import { minuteMs } from '../../src/base/time.ts';
import { LateShare } from '../../src/ingest/late-share.ts';

const startMs = 1_790_000_000_000;

let lines: [string, object][];
let metrics: Metrics;
let share: LateShare;

beforeEach(() => {
  lines = [];
  metrics = createMetrics();
  const line = (level: string) => (facts: object) => {
    lines.push([level, facts]);
  };
  share = new LateShare(metrics, { warn: line('warn'), info: line('info') });
});

const count = (atMs: number, aggregated: number, lateMerged: number, topic = 't') =>
  share.count({ topic, aggregated, overflow: 0, lateMerged }, startMs + atMs);

async function shown(atMs: number): Promise<Record<string, number>> {
  share.show(startMs + atMs);
  const { values } = await metrics.eventsLateMergedShare.get();
  return Object.fromEntries(values.map(({ labels, value }) => [labels.topic, value]));
}

describe('the share of late merges', () => {
  it('is that of the last five minutes, by topic, and of events that overflowed too', async () => {
    expect(await shown(0)).toEqual({});
    count(0, 900, 9);
    share.count({ topic: 't', aggregated: 0, overflow: 100, lateMerged: 1 }, startMs);
    count(0, 50, 0, 'other');
    expect(await shown(0)).toEqual({ t: 0.01, other: 0 });
    count(3 * minuteMs, 1_000, 0);
    expect((await shown(4.5 * minuteMs)).t).toBe(0.005);
    expect((await shown(5.5 * minuteMs)).t).toBe(0);
    count(6 * minuteMs, 10, 10);
    // Events of minute 3 still count in minute 7, and no longer in minute 9.
    expect((await shown(7 * minuteMs)).t).toBe(10 / 1_010);
    expect((await shown(9 * minuteMs)).t).toBe(1);
    expect((await shown(12 * minuteMs)).t).toBe(0);
  });

  it('is warned of once above 1 %, and cleared once below 0.5 %', async () => {
    count(0, 1_000, 10);
    await shown(0);
    expect(lines).toEqual([]);
    count(0, 0, 1);
    for (const ms of [0, 1_000, 60_000]) await shown(ms);
    const facts = { topic: 't', late_merged: 11, of: 1_000, percent: 1.1 };
    expect(lines).toEqual([['warn', facts]]);
    // Between the two, the state is unchanged.
    count(minuteMs, 1_000, 0);
    await shown(minuteMs);
    expect(lines).toHaveLength(1);
    count(minuteMs, 1_000, 0);
    await shown(minuteMs);
    await shown(minuteMs);
    expect(lines.slice(1)).toEqual([
      ['info', { topic: 't', late_merged: 11, of: 3_000, percent: 0.37 }],
    ]);
    count(2 * minuteMs, 0, 50);
    await shown(2 * minuteMs);
    expect(lines).toHaveLength(3);
  });

  it('of few events is shown without a warning', async () => {
    count(0, 199, 100);
    expect((await shown(0)).t).toBeCloseTo(0.5, 2);
    expect(lines).toEqual([]);
  });
});
