import { describe, expect, it } from 'vitest';
import { Detector } from '../../src/detect/detector.ts';
import type { SeriesWindow } from '../../src/series/series-window.ts';
import { anomalyFixture } from '../contract/anomaly-fixture.ts';
import { detectOptions, runScenario } from '../scenarios/run-scenario.ts';
import { scenarioSchema } from '../scenarios/scenario-schema.ts';
import { scenarioStartMs, scenarioWindows } from '../scenarios/scenario-windows.ts';

/** Each series by itself: test/detect/incident/ covers their grouping into pages. */
const options = detectOptions({ baseline: '10m', group_by: 'series' });
const scenario = scenarioSchema.parse({
  title: '',
  seed: 31,
  windows: 130,
  series: [
    { model: 'a', requests: 300, stages: { forward: { median_ms: 50, sigma: 0.3 } } },
    { model: 'b', requests: 300, stages: { forward: { median_ms: 50, sigma: 0.3 } } },
  ],
  faults: [0, 1].map((series) => ({
    series,
    windows: [100, 119],
    stage: 'forward',
    factor: 4,
    share: 0.5,
  })),
  expect: [],
});
const windows = scenarioWindows(scenario, options.window);
const emitted = runScenario(windows, options);

describe('Detector', () => {
  it('refuses windows of two starts or of another length, as bugs of tailmark', () => {
    const [first, second] = [windows[0] as SeriesWindow[], windows[1] as SeriesWindow[]];
    const mixed = [first[0] as SeriesWindow, second[1] as SeriesWindow];
    expect(() => new Detector(options).observe(mixed, 0)).toThrow('BUG: a window of 10000 ms');
    const minutes = detectOptions({ window: '1m' });
    expect(() => new Detector(minutes).observe(first, 0)).toThrow('BUG: a window of 10000 ms');
  });

  it('compares each later window with the baseline of the quantile that it measures', () => {
    const story = scenarioSchema.parse({
      title: '',
      seed: 5,
      windows: 170,
      series: [{ model: 'a', requests: 300, stages: { forward: { median_ms: 50, sigma: 0.3 } } }],
      faults: [
        { windows: [100, 160], stage: 'forward', factor: 1.7, share: 0.6 },
        { windows: [106, 160], stage: 'forward', factor: 30, share: 0.02 },
      ],
      expect: [],
    });
    const events = runScenario(scenarioWindows(story, options.window), options);
    const [opened, ...later] = events.map(({ event }) => event);
    expect(opened).toMatchObject({ state: 'opened', quantile: 0.95 });
    // One request in fifty has thirty times the duration: a p99 of a second and more, and a normal p95.
    expect(later.length).toBeGreaterThan(0);
    for (const { quantile, baseline_ms, observed_ms } of later) {
      expect([quantile, baseline_ms]).toEqual([0.95, opened?.baseline_ms]);
      expect(observed_ms).toBeLessThan(400);
    }
  });

  it('compares with the baseline from before an incident, while it lasts and afterwards', () => {
    // Five times as long as the baseline.
    const story = scenarioSchema.parse({
      title: '',
      seed: 6,
      windows: 470,
      series: [{ model: 'a', requests: 300, stages: { forward: { median_ms: 50, sigma: 0.3 } } }],
      faults: [{ windows: [100, 400], stage: 'forward', factor: 2 }],
      expect: [],
    });
    const detector = new Detector(options);
    const medians: number[] = [];
    const states: string[] = [];
    for (const present of scenarioWindows(story, options.window)) {
      const [window] = present as [SeriesWindow];
      const nowMs = window.windowStartMs + options.window;
      states.push(...detector.observe(present, nowMs).map(({ state }) => state));
      const reference = detector.reference(window.series, 'total');
      medians.push(reference?.digest.quantile(0.5) ?? Number.NaN);
    }
    expect(states).toEqual(['opened', 'resolved']);
    const before = medians[99] ?? Number.NaN;
    for (const median of medians.slice(100)) {
      expect(Math.abs(median / before - 1)).toBeLessThan(0.01);
    }
  });

  it('holds back windows that may belong to a fault until it is over, or for half a baseline', () => {
    const learntUntil = (faultyWindows: number) => {
      const story = scenarioSchema.parse({
        title: '',
        seed: 7,
        windows: 180,
        series: [{ model: 'a', requests: 300, stages: { forward: { median_ms: 50, sigma: 0.3 } } }],
        faults: [{ windows: [100, 100 + faultyWindows - 1], stage: 'forward', factor: 1.5 }],
        expect: [],
      });
      // Too small an effect to page, however clear.
      const detector = new Detector({ ...options, min_effect_ms: 1_000 });
      return scenarioWindows(story, options.window).map((present) => {
        const [{ series, windowStartMs }] = present as [SeriesWindow];
        expect(detector.observe(present, windowStartMs + options.window)).toEqual([]);
        const { toMs = Number.NaN } = detector.reference(series, 'total') ?? {};
        return (toMs - scenarioStartMs) / options.window;
      });
    };
    const short = learntUntil(20);
    expect(short[122]).toBeLessThanOrEqual(100);
    expect(short[170]).toBeGreaterThan(150);
    const long = learntUntil(80);
    expect(long[128]).toBeLessThanOrEqual(100);
    expect(long[145]).toBeGreaterThan(100);
    expect(long[145]).toBeLessThanOrEqual(145 - 30);
  });

  it('refuses to restore a resolved anomaly', () => {
    const resolved = anomalyFixture({ state: 'resolved' });
    expect(() => new Detector(options).restore([resolved])).toThrow('nothing to restore');
  });

  it('opens and resolves one anomaly for each series, with one group', () => {
    const outline = emitted.map(({ event }) => [event.model, event.state]);
    expect(outline).toEqual([
      ['a', 'opened'],
      ['b', 'opened'],
      ['a', 'resolved'],
      ['b', 'resolved'],
    ]);
    expect(new Set(emitted.map(({ event }) => event.dedup_key)).size).toBe(2);
  });

  it('emits the same events for any order of the series in a window', () => {
    const turned = windows.map((present) => [...present].reverse());
    expect(runScenario(turned, options)).toEqual(emitted);
  });

  it('ignores a window that it has evaluated already', () => {
    const twice = windows.flatMap((present) => [present, present]);
    const detector = new Detector(options);
    const events = twice.flatMap((present) => {
      const startMs = present[0]?.windowStartMs ?? 0;
      return detector.observe(present, startMs + 12_000);
    });
    expect(events).toEqual(emitted.map(({ event }) => event));
  });

  it('lists open anomalies, and counts series and tests', () => {
    const detector = new Detector(options);
    for (const present of windows.slice(0, 110)) detector.observe(present, 0);
    expect(detector.open.map((event) => event.model)).toEqual(['a', 'b']);
    expect(detector.stats).toMatchObject({ series: 2, tests: 9, windowsBeyondLimit: 0 });
    expect(detector.stats.perWeek * 9).toBeCloseTo(1, 9);
  });

  it('emits nothing while it warms up, and nothing twice afterwards', () => {
    const detector = new Detector(options);
    const opened = emitted.slice(0, 2).map(({ event }) => event);
    detector.restore(opened);
    for (const present of windows.slice(0, 110)) detector.warmUp([present]);
    expect(detector.open).toEqual(opened);
    expect(detector.observe(windows[110] as SeriesWindow[], 0)).toEqual([]);
  });

  it('emits an anomaly that is in the history but missing from the table, while it lasts', () => {
    const lasting = new Detector(options);
    for (const present of windows.slice(0, 110)) lasting.warmUp([present]);
    const late = lasting.observe(windows[110] as SeriesWindow[], 7);
    expect(late.map((event) => [event.model, event.state])).toEqual([
      ['a', 'opened'],
      ['b', 'opened'],
    ]);
    expect(late[0]?.detected_at).toBe(new Date(7).toISOString());
    const over = new Detector(options);
    for (const present of windows.slice(0, 120)) over.warmUp([present]);
    expect(windows.slice(120).flatMap((present) => over.observe(present, 7))).toEqual([]);
  });

  it('resolves a restored anomaly once, even without any history', () => {
    const detector = new Detector(options);
    detector.restore(emitted.slice(0, 2).map(({ event }) => event));
    const events = windows.slice(110).flatMap((present) => detector.observe(present, 7));
    expect(events.map((event) => [event.model, event.state, event.revision])).toEqual([
      ['a', 'resolved', 2],
      ['b', 'resolved', 2],
    ]);
    expect(detector.open).toEqual([]);
  });

  it('evaluates as many series as the limit allows and counts the windows of others', () => {
    const detector = new Detector({ ...options, max_series: 20 });
    const [one] = windows[0] as [SeriesWindow];
    const many = Array.from({ length: 23 }, (_, i) => {
      return { ...one, series: { ...one.series, model: `m${i}` } };
    });
    expect(detector.observe(many, 0)).toEqual([]);
    expect(detector.stats).toMatchObject({ series: 20, windowsBeyondLimit: 3 });
  });

  it('forgets a series that is gone for a baseline', () => {
    const detector = new Detector(options);
    const only = (present: SeriesWindow[]) => present.filter(({ series }) => series.model === 'a');
    detector.observe(windows[0] as SeriesWindow[], 0);
    for (const present of windows.slice(1, 61)) detector.observe(only(present), 0);
    expect(detector.stats.series).toBe(2);
    // After the next sharing block, which comes every two minutes.
    for (const present of windows.slice(61, 73)) detector.observe(only(present), 0);
    expect(detector.stats.series).toBe(1);
  });
});
