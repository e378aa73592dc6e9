import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../../src/base/telemetry/metrics.ts';
import type { DetectorStats } from '../../../src/detect/detector.ts';
import { LimitWatch } from '../../../src/roles/detect/limit-watch.ts';

const calm: DetectorStats = {
  ...{ series: 3, seriesLimit: 3, seriesNotEvaluated: 0, isCrowded: false },
  ...{ windowsEvaluated: 0, tests: 9, perWeek: 0.1, windowsBeyondLimit: 0, stagesNotEvaluated: 0 },
  shortHistory: undefined,
};
const crowded = { ...calm, isCrowded: true, seriesNotEvaluated: 7 };

function watch() {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const metrics = createMetrics();
  const limits = new LimitWatch(log, metrics);
  const gauges = async () => {
    const all = [
      metrics.detectorSeries,
      metrics.detectorSeriesLimit,
      metrics.detectorSeriesUnevaluated,
    ];
    return Promise.all(all.map(async (gauge) => (await gauge.get()).values[0]?.value));
  };
  return { limits, lines, metrics, gauges };
}

describe('LimitWatch', () => {
  it('has a gauge of series, of their limit, and of series that are not evaluated', async () => {
    const { limits, gauges } = watch();
    limits.observe(crowded);
    expect(await gauges()).toEqual([3, 3, 7]);
    limits.end();
    expect(await gauges()).toEqual([0, 0, 0]);
  });

  it('logs once that the limit is reached, and once that it is over', () => {
    const { limits, lines } = watch();
    for (const stats of [
      calm,
      crowded,
      { ...crowded, seriesNotEvaluated: 9 },
      crowded,
      calm,
      calm,
    ]) {
      limits.observe(stats);
    }
    const [warn, info] = [40, 30];
    expect(lines).toMatchObject([
      { level: warn, series: 3, limit: 3, unevaluated: 7 },
      { level: info, series: 3, limit: 3, unevaluated: 0 },
    ]);
    expect(lines[0]?.msg).toContain('detect.max_series');
  });

  it('logs, exports and notes since when the history is known, while it is short', async () => {
    const { limits, lines, metrics } = watch();
    const fromMs = Date.parse('2026-11-29T09:14:00Z');
    const short = { ...calm, shortHistory: { fromMs, untilMs: fromMs + 3_600_000 } };
    const gauge = async () => (await metrics.detectorHistorySeconds.get()).values[0]?.value;
    limits.observe(short);
    limits.observe(short);
    expect(await gauge()).toBe(fromMs / 1000);
    expect(limits.notes()).toEqual([
      'detect: knows windows since 2026-11-29 09:14 UTC only: the history before was not read; ' +
        'until 2026-11-29 10:14 UTC (detect.baseline) tails and failures must be larger to be critical',
    ]);
    limits.observe(calm);
    expect(await gauge()).toBe(0);
    expect(limits.notes()).toEqual([]);
    expect(lines).toMatchObject([
      { level: 40, from: '2026-11-29T09:14:00.000Z', careful_until: '2026-11-29T10:14:00.000Z' },
      { level: 30, from: '2026-11-29T09:14:00.000Z' },
    ]);
  });

  it('has a warning for operators while it lasts', () => {
    const { limits } = watch();
    expect(limits.notes()).toEqual([]);
    limits.observe(crowded);
    expect(limits.notes()).toEqual([
      'detect: evaluates 3 series of at most 3 (detect.max_series); ' +
        '7 with fewer requests were not evaluated in the last window',
    ]);
    limits.observe({ ...calm, stagesNotEvaluated: 53 });
    expect(limits.notes()).toEqual([
      'detect: 53 stages of evaluated series, those with the least time, are not evaluated',
    ]);
    limits.observe(calm);
    expect(limits.notes()).toEqual([]);
  });
});
