import { describe, expect, it } from 'vitest';
import { Backtest, differenceOf } from '../../src/backtest/backtest.ts';
import { configSchema } from '../../src/config/schema.ts';
import { anomalyFixture } from '../contract/anomaly-fixture.ts';
import { runScenario } from '../scenarios/run-scenario.ts';
import { scenarioSchema } from '../scenarios/scenario-schema.ts';
import { scenarioStartMs, scenarioWindows } from '../scenarios/scenario-windows.ts';

const windowMs = 10_000;
const scenario = scenarioSchema.parse({
  title: '',
  seed: 5,
  windows: 130,
  series: [{ model: 'a', requests: 300, stages: { forward: { median_ms: 50, sigma: 0.3 } } }],
  faults: [{ series: 0, windows: [80, 95], stage: 'forward', factor: 4, share: 0.5 }],
  expect: [],
});
const windows = scenarioWindows(scenario, windowMs);
const options = configSchema.parse({ detect: { baseline: '10m' } }).detect;
const at = (n: number) => ({ startMs: scenarioStartMs + n * windowMs, windows: windows[n] ?? [] });

describe('a backtest', () => {
  it("emits the detector's events, as of the end, with counts", () => {
    const backtest = new Backtest(options);
    for (let n = 0; n < windows.length; n++) backtest.evaluate([at(n)]);
    const emitted = runScenario(windows, options).map(({ event }) => event);
    const last = new Map(emitted.map((event) => [event.id, event]));
    expect(emitted.length).toBeGreaterThanOrEqual(2);
    expect(backtest.anomalies).toEqual([...last.values()]);
    expect(backtest.anomalies).toMatchObject([{ state: 'resolved', model: 'a', stage: 'forward' }]);
    expect(backtest.counts).toEqual({ windows: 130, seriesWindows: 130, emitted: emitted.length });
  });

  it('after a backfill emits the same of the rest', () => {
    const whole = new Backtest(options);
    const late = new Backtest(options);
    const all = windows.map((_, n) => at(n));
    for (const each of all) whole.evaluate([each]);
    late.detector.warmUp(all.slice(0, 75).map(({ windows }) => windows));
    late.evaluate(all.slice(75));
    expect(late.anomalies).toEqual(whole.anomalies);
    expect(late.counts.windows).toBe(55);
  });
});

describe('the difference', () => {
  const from = (minute: number, to: number | null, changed = {}) =>
    anomalyFixture({
      id: `${minute}`,
      started_at: new Date(minute * 60_000).toISOString(),
      resolved_at: to === null ? null : new Date(to * 60_000).toISOString(),
      ...changed,
    });

  it('is by series and kind, and by time', () => {
    const then = [from(0, 10), from(100, 110), from(200, null)];
    const now = [from(9, 12), from(50, 60), from(205, 210)];
    const other = from(0, 10, { dedup_key: 'tail_shift/other' });
    const found = differenceOf(then, [...now, other]);
    expect(found.both).toEqual([now[0], now[2]]);
    expect(found.added).toEqual([now[1], other]);
    expect(found.gone).toEqual([then[1]]);
  });
});
