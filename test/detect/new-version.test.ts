import { describe, expect, it } from 'vitest';
import type { AnomalyEvent } from '../../src/contract/anomaly-event.ts';
import { Detector } from '../../src/detect/detector.ts';
import { seriesKey } from '../../src/series/series-key.ts';
import type { Series, SeriesWindow } from '../../src/series/series-window.ts';
import { mulberry32, SeededRandom } from '../base/seeded-random.ts';
import { detectOptions } from '../scenarios/run-scenario.ts';
import { summarizeWindow } from '../scenarios/summarize-window.ts';
import { loadState } from './load-state.ts';

const options = detectOptions({ baseline: '10m' });
const { window: windowMs } = options;
const startMs = Date.UTC(2026, 10, 2);
const model: Series = {
  ...{ service: '', model: 'ranker', version: 'v1', request_type: '', region: 'eu' },
  ...{ host: '', tenant: '', cold_start: false },
};

interface Part {
  readonly of?: Partial<Series>;
  readonly requests?: number;
  readonly factor?: number;
}

/** A detector fed with windows of series, `queue` and `forward` a request. */
function story(seed: number) {
  const random = new SeededRandom(seed, mulberry32);
  const detector = new Detector(options);
  let at = 0;
  const windowOf = ({ of = {}, requests = 100, factor = 1 }: Part): SeriesWindow => {
    const stages = new Map<string, number[]>();
    const draw = (medianMs: number, sigma: number) =>
      Array.from({ length: requests }, () => medianMs * Math.exp(sigma * random.normal()));
    const [queue, forward] = [draw(6, 0.5), draw(50 * factor, 0.2)];
    stages.set('queue', queue).set('forward', forward);
    stages.set(
      'total',
      queue.map((ms, i) => ms + (forward[i] as number)),
    );
    const series = { ...model, ...of };
    return summarizeWindow({ series, windowStartMs: startMs + at * windowMs, windowMs, stages });
  };
  /** Feeds so many windows of these series; returns the emitted events. */
  const run = (windows: number, ...parts: readonly Part[]): AnomalyEvent[] => {
    const events: AnomalyEvent[] = [];
    for (let n = 0; n < windows; n++, at++) {
      const atMs = startMs + at * windowMs;
      events.push(...detector.observe(parts.map(windowOf), atMs + windowMs + 2_000, atMs));
    }
    return events.filter(({ incident_id }) => incident_id === undefined);
  };
  return { run, detector };
}

const secondsAfter = (window: number, { detected_at }: AnomalyEvent) =>
  (Date.parse(detected_at) - startMs) / 1000 - (window * windowMs) / 1000;

describe('a version that is new', () => {
  it("and slow from its first request is reported at once, against its predecessor's baseline", () => {
    const { run } = story(1);
    run(100, {});
    const [opened, ...others] = run(12, { of: { version: 'v2' }, factor: 3 });
    expect(others).toEqual([]);
    expect(opened).toMatchObject({ state: 'opened', version: 'v2', stage: 'forward' });
    expect(secondsAfter(100, opened as AnomalyEvent)).toBe(22);
    const { evidence, ratio, baseline_ms, summary } = opened as AnomalyEvent;
    expect(evidence.baseline_of).toEqual([{ dimension: 'version', value: 'v1' }]);
    expect(Date.parse(evidence.baseline_to)).toBeLessThanOrEqual(startMs + 100 * windowMs);
    expect(ratio).toBeGreaterThan(2.3);
    expect(baseline_ms).toBeLessThan(100);
    expect(summary).toMatch(
      /^p9[59] of ranker \(v2, eu\) is \d+ ms, .*x the baseline of version v1 \([\d.]+ ms\); in the slowest 1 % forward rose/,
    );
  });

  it('is compared with its own past once it was seen for a baseline', () => {
    const { run, detector } = story(2);
    run(100, {});
    const v2 = { ...model, version: 'v2' };
    const medianOf = () => detector.reference(v2, 'total')?.digest.quantile(0.5) as number;
    // The length of a baseline.
    for (const [windows, isOwn] of [
      [30, false],
      [29, false],
      [3, true],
    ] as const) {
      expect(run(windows, { of: v2, factor: 0.5 })).toEqual([]);
      expect(medianOf() < 40).toBe(isOwn);
    }
    const [opened] = run(12, { of: v2 });
    expect(opened).toMatchObject({ state: 'opened', stage: 'forward' });
    expect(opened?.evidence.baseline_of).toBeUndefined();
  });

  it("next to its predecessor is compared with the predecessor's current windows", () => {
    const { run, detector } = story(3);
    run(100, {});
    const canary = { of: { version: 'v2' }, requests: 60 };
    const baselineTo = () => {
      const reference = detector.reference({ ...model, version: 'v2' }, 'total');
      return ((reference?.toMs as number) - startMs) / windowMs;
    };
    run(2, {}, canary);
    expect(baselineTo()).toBeLessThanOrEqual(100);
    expect(run(48, {}, canary)).toEqual([]);
    // Renewed every two minutes, without the minute in quarantine; windows are learnt by the minute.
    expect(baselineTo()).toBeGreaterThan(120);
  });

  it('and as slow as its predecessor, while that one is reported, joins the incident', () => {
    const { run } = story(4);
    run(100, {});
    const slow = (version: string) => ({ of: { version }, factor: 3 });
    const emitted = run(40, slow('v2'));
    // Long after any other anomaly would have joined.
    emitted.push(...run(400, slow('v2')), ...run(12, slow('v3')));
    expect(emitted.filter(({ state }) => state === 'opened')).toHaveLength(1);
    // v2 resolves after ten minutes without requests, and v3 holds the incident open.
    emitted.push(...run(80, slow('v3')));
    expect(emitted.filter(({ state }) => state !== 'updated').map(({ state }) => state)).toEqual([
      'opened',
    ]);
    const end = run(40, { of: { version: 'v3' } });
    expect(end.map(({ state, resolution }) => [state, resolution])).toEqual([
      ['resolved', 'recovered'],
    ]);
  });

  it('that starts slowly pages once, not with every release', () => {
    const { run } = story(5);
    run(100, {});
    const pages = Array.from({ length: 3 }, (_, n) => {
      const of = { version: `v${n + 2}` };
      const events = [...run(6, { of, factor: 3 }), ...run(84, { of })];
      return events.filter(({ state }) => state === 'opened').length;
    });
    expect(pages).toEqual([1, 0, 0]);
  });

  it('that is slow for good pages, though the release before was rolled back for it', () => {
    const { run } = story(6);
    run(100, {});
    const opened = (windows: number, version: string, factor: number) =>
      run(windows, { of: { version }, factor }).filter(({ state }) => state === 'opened').length;
    expect(opened(30, 'v2', 3)).toBe(1);
    // The previous version under another name, until the page of v2 is over and some more.
    expect(opened(150, 'v3', 1)).toBe(0);
    expect(opened(30, 'v4', 3)).toBe(1);
  });

  it('is the same after a restore from a snapshot', () => {
    const { run, detector } = story(7);
    run(100, {});
    run(3, { of: { version: 'v2' }, factor: 1.2 });
    const parts = new Map(
      [...detector.save()].map(({ name, bytes }) => [name, Buffer.from(bytes)]),
    );
    const successor = new Detector(options);
    loadState(successor, parts);
    const key = seriesKey({ ...model, version: 'v2' });
    expect([...successor.save()].find(({ name }) => name === key)?.bytes).toEqual(parts.get(key));
    const reference = successor.reference({ ...model, version: 'v2' }, 'forward');
    expect(reference).toEqual(detector.reference({ ...model, version: 'v2' }, 'forward'));
  });
});

describe('a host or a region that is new', () => {
  it('and slow from its first request is reported', () => {
    for (const of of [{ host: 'pod-9' }, { region: 'us' }]) {
      const { run } = story(8);
      run(100, {});
      const emitted = run(30, {}, { of, requests: 20, factor: 3 });
      expect(emitted.filter(({ state }) => state === 'opened')).toMatchObject([of]);
    }
  });
});

describe('a request type that is new', () => {
  it('is not compared with another type: nothing is reported', () => {
    const { run } = story(9);
    run(100, {});
    expect(run(100, {}, { of: { request_type: 'export' }, factor: 10 })).toEqual([]);
  });
});
