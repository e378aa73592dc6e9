import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../../src/base/time.ts';
import { nothingWrong } from '../../../src/roles/detect/completeness/completeness.ts';
import { LateRequests } from '../../../src/roles/detect/late-requests.ts';
import type { SeriesWindow } from '../../../src/series/series-window.ts';

const windowMs = 10_000;
const fine = { ...nothingWrong, completeMs: 0, knownMs: undefined, hasAllTraffic: true };
const behind = [{ name: 't/1', behindMs: 40_000, lagMessages: 9, isGivenUp: true }];
const outage = { sinceMs: 0, reason: 'connect ECONNREFUSED' };

/** Windows of two series: one with a total, one without. */
function windowsOf(requests: number): SeriesWindow[] {
  const stages = (of: Record<string, number>) =>
    new Map(Object.entries(of).map(([stage, count]) => [stage, { requests: count }]));
  return [
    { stages: stages({ total: requests - 40, gpu: 7 }) },
    { stages: stages({ queue: 12, gpu: 40 }) },
  ] as unknown as SeriesWindow[];
}

/** Evaluated windows from the first on, of 1,000 requests each. */
function evaluated(count: number): LateRequests {
  const late = new LateRequests();
  for (let at = 0; at < count; at++) late.record(at * windowMs, windowsOf(1_000));
  return late;
}

/** Current requests of windows: 1,000, and more in some. */
function nowHave(count: number, more: Readonly<Record<number, number>>) {
  return new Map(
    Array.from({ length: count }, (_, at) => [at * windowMs, 1_000 + (more[at] ?? 0)] as const),
  );
}

describe('LateRequests', () => {
  it('names the first window that has received more than a hundredth, and how many did', () => {
    const selected = evaluated(60).select(0, nowHave(60, { 3: 10, 20: 11, 21: 300 }), [0]);
    expect(selected).toEqual({ fromMs: 20 * windowMs, windows: 2, tooOld: 0 });
  });

  it('ignores a hundredth or less, fewer than ten requests, and fewer than before', () => {
    expect(evaluated(60).select(0, nowHave(60, { 1: 10, 2: 10, 3: 10 }), [0])).toBeUndefined();
    const late = new LateRequests();
    for (let at = 0; at < 4; at++) late.record(at * windowMs, windowsOf(50));
    const have = (more: number) => new Map([...Array(4).keys()].map((at) => [at * windowMs, more]));
    expect(late.select(0, have(52), [0])).toBeUndefined();
    expect(late.select(0, have(0), [0])).toBeUndefined();
    expect(late.select(0, have(53), [0])).toMatchObject({ windows: 4 });
  });

  it('reports the same requests once, for any result', () => {
    const late = evaluated(60);
    expect(late.select(0, nowHave(60, { 5: 500 }), [0])).toBeDefined();
    expect(late.select(10 * minuteMs, nowHave(60, { 5: 500 }), [0])).toBeUndefined();
    expect(late.select(10 * minuteMs, nowHave(60, { 5: 520 }), [0])).toMatchObject({ windows: 1 });
  });

  it('skips windows that are older than every snapshot, and counts them', () => {
    const more = { 5: 500, 6: 500, 40: 500 };
    const snapshotsMs = [50 * windowMs, 30 * windowMs];
    expect(evaluated(60).select(0, nowHave(60, more), snapshotsMs)).toEqual({
      ...{ fromMs: 40 * windowMs, windows: 1, tooOld: 2 },
    });
    expect(evaluated(60).select(0, nowHave(60, more), [])).toMatchObject({ windows: 0, tooOld: 3 });
  });

  it('remembers half an hour of windows', () => {
    expect(evaluated(180).remembered(windowMs)).toEqual({
      fromMs: 0,
      toMs: 180 * windowMs,
      windowMs,
    });
    expect(evaluated(500).remembered(windowMs)).toEqual({
      fromMs: 320 * windowMs,
      toMs: 500 * windowMs,
      windowMs,
    });
  });

  it('rests for five minutes, or for twenty times as long as it took', () => {
    const late = evaluated(60);
    late.select(0, nowHave(60, { 5: 500 }), [0]);
    late.finished(0, 1_000);
    const more = nowHave(60, { 5: 600 });
    expect(late.select(5 * minuteMs - 1, more, [0])).toBeUndefined();
    expect(late.select(5 * minuteMs, more, [0])).toMatchObject({ windows: 1 });
    late.finished(5 * minuteMs, 30_000);
    const most = nowHave(60, { 5: 700 });
    expect(late.select(15 * minuteMs - 1, most, [0])).toBeUndefined();
    expect(late.select(15 * minuteMs, most, [0])).toMatchObject({ windows: 1 });
  });

  it('counts every half minute, not while a partition is behind or Kafka is away', () => {
    const late = evaluated(3);
    expect(new LateRequests().isDue(0, fine)).toBe(false);
    expect(late.isDue(0, { ...fine, behind })).toBe(false);
    expect(late.isDue(0, { ...fine, kafkaOutage: outage })).toBe(false);
    expect(late.isDue(0, fine)).toBe(true);
    late.select(0, nowHave(3, {}), [0]);
    expect(late.isDue(29_999, fine)).toBe(false);
    expect(late.isDue(30_000, fine)).toBe(true);
  });

  it('keeps the snapshot before windows that lack requests, until that is resolved, or for half an hour', () => {
    const late = evaluated(10);
    const atMs = 10 * windowMs;
    expect(late.holdsSnapshots(atMs)).toBe(false);
    late.record(atMs, windowsOf(1_000), true);
    late.record(atMs + windowMs, windowsOf(1_000), true);
    expect(late.holdsSnapshots(atMs + 30 * minuteMs - 1)).toBe(true);
    expect(late.holdsSnapshots(atMs + 30 * minuteMs)).toBe(false);
    late.finished(0, 0);
    // Too soon: the found windows are still to be re-evaluated.
    expect(late.select(1, nowHave(12, { 3: 100 }), [0])).toBeUndefined();
    expect(late.holdsSnapshots(3 * windowMs + 30 * minuteMs - 1)).toBe(true);
    expect(late.holdsSnapshots(3 * windowMs + 30 * minuteMs)).toBe(false);
    expect(late.select(5 * minuteMs, nowHave(12, { 3: 100 }), [0])).toBeDefined();
    expect(late.holdsSnapshots(atMs)).toBe(false);
  });
});
