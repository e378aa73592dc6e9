import { describe, expect, it } from 'vitest';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { Detector } from '../../../src/detect/detector.ts';
import { seriesKey } from '../../../src/series/series-key.ts';
import type { Series, SeriesWindow } from '../../../src/series/series-window.ts';
import { mulberry32, SeededRandom } from '../../base/seeded-random.ts';
import { detectOptions } from '../../scenarios/run-scenario.ts';
import { scenarioStartMs } from '../../scenarios/scenario-windows.ts';
import { summarizeWindow } from '../../scenarios/summarize-window.ts';
import { loadState } from '../load-state.ts';

const windowMs = 10_000;
const blockWindows = 12;
const minuteWindows = 6;

const none = { service: '', request_type: '', region: '', host: '', tenant: '', cold_start: false };
const seriesOf = (model: string, version = ''): Series => ({ ...none, model, version });

/** Requests of a window by series: `model` or `model version`. */
type Traffic = Readonly<Record<string, number>>;

function windowsAt(at: number, traffic: Traffic, slow: Readonly<Record<string, number>> = {}) {
  const windows: SeriesWindow[] = [];
  for (const [name, requests] of Object.entries(traffic)) {
    if (requests === 0) continue;
    const random = new SeededRandom(at * 1000 + requests + name.length, mulberry32);
    const [model, version] = name.split(' ') as [string, string?];
    const ms = () => 50 * Math.exp(0.2 * random.normal()) * (slow[name] ?? 1);
    const total = Array.from({ length: requests }, ms);
    const stages = new Map([
      ['forward', total.map((each) => each / 2)],
      ['total', total],
    ]);
    const windowStartMs = scenarioStartMs + at * windowMs;
    windows.push(
      summarizeWindow({ series: seriesOf(model, version), windowStartMs, windowMs, stages }),
    );
  }
  return windows;
}

const optionsOf = (max_series: number) => ({
  ...detectOptions({ baseline: '10m', group_by: 'series' }),
  max_series,
});

/** A detector and the index of its next window. */
class Run {
  readonly detector: Detector;
  readonly events: AnomalyEvent[] = [];
  at = 0;

  constructor(maxSeries: number) {
    this.detector = new Detector(optionsOf(maxSeries));
  }

  step(traffic: Traffic, windows = 1, slow: Readonly<Record<string, number>> = {}): this {
    for (let n = 0; n < windows; n++) {
      const startMs = scenarioStartMs + this.at * windowMs;
      const all = windowsAt(this.at, traffic, slow);
      this.events.push(...this.detector.observe(all, startMs + windowMs, startMs));
      this.at += 1;
    }
    return this;
  }

  /** Series of the given names that are evaluated. */
  evaluated(names: Iterable<string>): string[] {
    const lastMs = scenarioStartMs + (this.at - 1) * windowMs;
    return [...names].filter((name) => {
      const [model, version] = name.split(' ') as [string, string?];
      return this.detector.isWanted(seriesOf(model, version), lastMs);
    });
  }
}

const letters = [...'abcdefghij'];
/** Requests grow with the letter. */
const growing = Object.fromEntries(letters.map((name, n) => [name, 10 * (n + 1)]));

describe('SeriesSlots', () => {
  it('gives slots to those with the most requests, whatever they are called', () => {
    const run = new Run(3).step(growing);
    expect(run.evaluated(letters)).toEqual(['h', 'i', 'j']);
    expect(run.detector.stats).toMatchObject({
      ...{ series: 3, seriesLimit: 3, seriesNotEvaluated: 7, isCrowded: true, windowsEvaluated: 3 },
      windowsBeyondLimit: 7,
    });
    const reversed = Object.fromEntries(letters.map((name, n) => [name, 10 * (10 - n)]));
    expect(new Run(3).step(reversed).evaluated(letters)).toEqual(['a', 'b', 'c']);
  });

  it('gives a slot to a series with clearly more requests some minutes later, and not with a few more', () => {
    const run = new Run(3).step(growing, 60);
    // c has ten percent more than h, which continues; a comes with five times as many as h.
    run.step({ ...growing, c: 88 }, 20 * minuteWindows);
    expect(run.evaluated(letters)).toEqual(['h', 'i', 'j']);
    run.step({ ...growing, c: 88, a: 400 }, 8 * minuteWindows);
    expect(run.evaluated(letters)).toEqual(['a', 'i', 'j']);
    expect(run.detector.stats).toMatchObject({ series: 3, seriesNotEvaluated: 7 });
  });

  it('leaves the slot of a series with an open anomaly', () => {
    const run = new Run(2).step({ a: 60, b: 200, z: 5 }, 60);
    run.step({ a: 60, b: 200, z: 5 }, 12, { a: 4 });
    expect(run.events.map(({ model, state }) => `${model} ${state}`)).toEqual(['a opened']);
    const later = { a: 60, b: 200, z: 1_000 };
    run.step(later, 10 * minuteWindows, { a: 4 });
    expect(run.evaluated(['a', 'b', 'z'])).toEqual(['a', 'z']);
    run.step(later, 10 * minuteWindows).step({ ...later, b: 1_000 }, 10 * minuteWindows);
    expect(run.events.at(-1)).toMatchObject({ model: 'a', state: 'resolved' });
    expect(run.evaluated(['a', 'b', 'z'])).toEqual(['b', 'z']);
  });

  it('gives the next version of an evaluated series a slot at once, that of the series with the fewest requests', () => {
    const run = new Run(3).step({ 'a v1': 200, b: 100, c: 50, d: 40 }, 30);
    const names = ['a v1', 'a v2', 'b', 'c', 'd'];
    expect(run.evaluated(names)).toEqual(['a v1', 'b', 'c', 'a v2'].sort());
    run.step({ 'a v1': 190, 'a v2': 10, b: 100, c: 50, d: 40 });
    expect(run.evaluated(names)).toEqual(['a v1', 'a v2', 'b']);
    // It inherits its predecessor's claim, and its first ten minutes protect it from being the least.
    run.step({ 'a v1': 0, 'a v2': 200, b: 100, c: 50, d: 40 }, 30 * minuteWindows);
    expect(run.evaluated(['a v2', 'b', 'c', 'd'])).toEqual(['a v2', 'b', 'c']);
  });

  it('keeps the slots of others through a flood of versions, or of series with a request each', () => {
    const run = new Run(6).step({ 'a v1': 100, b: 90, c: 80, d: 70, e: 60, f: 50, g: 5 }, 12);
    for (let n = 0; n < 60; n++) {
      const flood = Object.fromEntries(
        Array.from({ length: 30 }, (_, i) => [i % 2 === 0 ? `a v${n}-${i}` : `m${n}-${i}`, 1]),
      );
      run.step({ 'a v1': 100, b: 90, c: 80, d: 70, e: 60, f: 50, g: 5, ...flood });
    }
    // Two slots at most go to new versions.
    expect(run.evaluated(['a v1', 'b', 'c', 'd'])).toEqual(['a v1', 'b', 'c', 'd']);
    expect(run.detector.stats.series).toBe(6);
  });

  it('counts traffic of all series of a model, evaluated or not', () => {
    const run = new Run(1).step({ 'a v1': 60, 'a v2': 300, 'a v3': 10 }, 120);
    run.step({ 'a v1': 60, 'a v3': 310 }, 60);
    expect(
      run.events.filter(({ kind }) => kind === 'no_data' || kind === 'throughput_drop'),
    ).toEqual([]);
  });

  it('gives 200 series a slot in one window, so that no turn of the event loop is long', () => {
    const many = Object.fromEntries(Array.from({ length: 450 }, (_, n) => [`m${n}`, 1 + (n % 3)]));
    const run = new Run(1_000);
    const sizes = [1, 2, 3].map(() => run.step(many).detector.stats);
    expect(sizes.map(({ series, seriesNotEvaluated }) => [series, seriesNotEvaluated])).toEqual([
      [200, 250],
      [400, 50],
      [450, 0],
    ]);
    expect(sizes.map(({ isCrowded }) => isCrowded)).toEqual([false, false, false]);
  });
});

/** Traffic that varies: seven series for four slots, a new version, a fault. */
function eventful(at: number): SeriesWindow[] {
  const wave = (n: number) => Math.round(40 + 39 * Math.sin((at + 40 * n) / 60));
  const traffic: Record<string, number> = { 'a v1': at < 150 ? 120 : 20, b: 90, c: 10 };
  if (at >= 150) traffic['a v2'] = 100;
  for (let n = 0; n < 5; n++) traffic[`w${n}`] = wave(n);
  return windowsAt(at, traffic, at >= 200 && at < 230 ? { b: 4 } : {});
}

describe('Slots are the same', () => {
  const all = Array.from({ length: 360 }, (_, at) => ({
    ...{ startMs: scenarioStartMs + at * windowMs, nowMs: scenarioStartMs + (at + 1) * windowMs },
    windows: eventful(at),
  }));
  const stateOf = (detector: Detector) =>
    [...detector.save()].map(({ name, bytes }) => `${name} ${bytes.toString('base64')}`);
  const one = new Detector(optionsOf(4));
  const events = all.flatMap(({ windows, nowMs, startMs }) => one.observe(windows, nowMs, startMs));

  it('(and they change hands in this story, which emits events)', () => {
    expect(events.map(({ model, state }) => `${model} ${state}`)).toEqual([
      'b opened',
      'b resolved',
    ]);
    const seen = new Set<string>();
    const again = new Detector(optionsOf(4));
    for (const { windows, nowMs, startMs } of all) {
      again.observe(windows, nowMs, startMs);
      for (const { series } of windows) {
        if (again.isWanted(series, startMs)) seen.add(seriesKey(series));
      }
    }
    expect(seen.size).toBeGreaterThan(6);
  });

  it('whether windows of a block are evaluated one by one or together', () => {
    const together = new Detector(optionsOf(4));
    const emitted: AnomalyEvent[] = [];
    for (let from = 0; from < all.length; from += blockWindows) {
      emitted.push(...together.observeAll(all.slice(from, from + blockWindows)));
    }
    expect(emitted).toEqual(events);
    expect(stateOf(together)).toEqual(stateOf(one));
  });

  it('in any order of the series of a window', () => {
    const reversed = new Detector(optionsOf(4));
    const emitted = all.flatMap(({ windows, nowMs, startMs }) =>
      reversed.observe([...windows].reverse(), nowMs, startMs),
    );
    expect(emitted).toEqual(events);
    const namesOf = (detector: Detector) => [...detector.save()].map(({ name }) => name).sort();
    expect(namesOf(reversed)).toEqual(namesOf(one));
  });

  it('where only whole requests are read of series without a slot', () => {
    const read = new Detector(optionsOf(4));
    const emitted: AnomalyEvent[] = [];
    let left = 0;
    for (let from = 0; from < all.length; from += blockWindows) {
      // A block is read before any of it is evaluated.
      const block = all.slice(from, from + blockWindows).map((step) => ({
        ...step,
        windows: step.windows.map((window) => {
          if (read.isWanted(window.series, step.startMs)) return window;
          left += 1;
          return { ...window, stages: new Map([...window.stages].filter(([s]) => s === 'total')) };
        }),
      }));
      emitted.push(...read.observeAll(block));
    }
    expect(left).toBeGreaterThan(900);
    expect(emitted).toEqual(events);
    expect(stateOf(read)).toEqual(stateOf(one));
  });

  it('after a restore from a snapshot', () => {
    for (const savedAt of [100, 155, 245]) {
      const first = new Detector(optionsOf(4));
      for (const { windows, nowMs, startMs } of all.slice(0, savedAt)) {
        first.observe(windows, nowMs, startMs);
      }
      const next = new Detector(optionsOf(4));
      const parts = new Map([...first.save()].map(({ name, bytes }) => [name, bytes]));
      loadState(next, parts);
      for (const { windows, nowMs, startMs } of all.slice(savedAt)) {
        next.observe(windows, nowMs, startMs);
      }
      expect(stateOf(next)).toEqual(stateOf(one));
    }
  });
});
