import { describe, expect, it } from 'vitest';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { Detector } from '../../../src/detect/detector.ts';
import type { Series, SeriesWindow } from '../../../src/series/series-window.ts';
import { mulberry32, SeededRandom } from '../../base/seeded-random.ts';
import { detectOptions } from '../../scenarios/run-scenario.ts';
import { scenarioStartMs } from '../../scenarios/scenario-windows.ts';
import { summarizeWindow } from '../../scenarios/summarize-window.ts';
import { loadState } from '../load-state.ts';

const windowMs = 10_000;
const none = { service: '', version: '', request_type: '', region: '', host: '', tenant: '' };
const seriesOf = (model: string): Series => ({ ...none, model, cold_start: false });
const options = {
  ...detectOptions({ baseline: '10m', group_by: 'series' }),
  max_series: 4,
};

/** A window of a series with these median milliseconds per stage. */
function windowOf(model: string, at: number, stagesMs: Readonly<Record<string, number>>, slow = 1) {
  const random = new SeededRandom(at * 100 + model.length, mulberry32);
  const stages = new Map<string, number[]>([['total', []]]);
  for (let n = 0; n < 40; n++) {
    let total = 0;
    for (const [stage, medianMs] of Object.entries(stagesMs)) {
      const factor = stage === 's63' ? slow : 1;
      const ms = medianMs * factor * Math.exp(0.2 * random.normal());
      total += ms;
      const all = stages.get(stage) ?? [];
      all.push(ms);
      stages.set(stage, all);
    }
    stages.get('total')?.push(total);
  }
  const windowStartMs = scenarioStartMs + at * windowMs;
  return summarizeWindow({ series: seriesOf(model), windowStartMs, windowMs, stages });
}

const few = { forward: 50, queue: 5 };
/** Each stage is an eighth longer than the one before. */
const many = Object.fromEntries(Array.from({ length: 64 }, (_, n) => [`s${n}`, 1.12 ** n]));

function observed(detector: Detector, at: number, windows: SeriesWindow[]): AnomalyEvent[] {
  const startMs = scenarioStartMs + at * windowMs;
  return detector.observe(windows, startMs + windowMs, startMs);
}

/** Four series, one of which has 64 stages beside its total. */
function crowdAt(at: number, stages = many, slow = 1): SeriesWindow[] {
  return [
    windowOf('wide', at, stages, slow),
    ...['a', 'b', 'c'].map((model) => windowOf(model, at, few)),
  ];
}

/** Stages of `wide` that have a baseline. */
function evaluatedOf(detector: Detector, names: readonly string[]): string[] {
  return names.filter((stage) => detector.reference(seriesOf('wide'), stage) !== undefined);
}

const names = [...Object.keys(many), 'total'];
const last = (count: number) => names.slice(64 - count, 64);

describe('Stages of a series', () => {
  it('are evaluated up to its share: the total, and those with the most time', () => {
    const detector = new Detector(options);
    for (let at = 0; at < 40; at++) observed(detector, at, crowdAt(at));
    expect(evaluatedOf(detector, names)).toEqual([...last(11), 'total']);
    for (const model of ['a', 'b', 'c']) {
      for (const stage of ['forward', 'queue', 'total']) {
        expect(detector.reference(seriesOf(model), stage)).toBeDefined();
      }
    }
    // Twelve, three times three, failures of four series, traffic of four models and of all.
    expect(detector.stats).toMatchObject({
      series: 4,
      stagesNotEvaluated: 53,
      tests: 12 + 9 + 4 + 5,
    });
  });

  it('beyond its share are evaluated where few series leave slots free', () => {
    const detector = new Detector({ ...options, max_series: 12 });
    for (let at = 0; at < 40; at++) observed(detector, at, [windowOf('wide', at, many)]);
    expect(evaluatedOf(detector, names)).toEqual(names);
    expect(detector.stats.stagesNotEvaluated).toBe(0);
  });

  it('lose the test of the stage with the least time when other series need the slot', () => {
    const detector = new Detector({ ...options, max_series: 12 });
    let at = 0;
    for (; at < 40; at++) observed(detector, at, [windowOf('wide', at, many)]);
    const models = Array.from({ length: 11 }, (_, n) => `m${n}`);
    for (; at < 70; at++) {
      const others = models.map((model) => windowOf(model, at, few));
      observed(detector, at, [windowOf('wide', at, many), ...others]);
    }
    expect(evaluatedOf(detector, names)).toEqual([...last(11), 'total']);
    expect(detector.stats.tests).toBe(12 + 11 * 3 + 12 + 13);
  });

  it('change when others clearly have more time, and the new ones build a baseline first', () => {
    const detector = new Detector(options);
    let at = 0;
    for (; at < 40; at++) observed(detector, at, crowdAt(at));
    const later = { ...many, s0: 800 };
    for (; at < 180; at++) observed(detector, at, crowdAt(at, later));
    expect(evaluatedOf(detector, names)).toEqual(['s0', ...last(10), 'total']);
    expect(detector.stats).toMatchObject({ stagesNotEvaluated: 53, tests: 30 });
  });

  it('emit as before while evaluated, and keep their test while an anomaly is open', () => {
    const detector = new Detector(options);
    const emitted: AnomalyEvent[] = [];
    for (let at = 0; at < 60; at++) emitted.push(...observed(detector, at, crowdAt(at)));
    for (let at = 60; at < 72; at++) emitted.push(...observed(detector, at, crowdAt(at, many, 12)));
    expect(emitted.map(({ model, state, stage }) => `${model} ${state} ${stage}`)).toEqual([
      'wide opened s63',
    ]);
    const later = { ...many, s0: 8_000 };
    for (let at = 72; at < 96; at++) observed(detector, at, crowdAt(at, later, 12));
    expect(evaluatedOf(detector, names)).toEqual([...last(11), 'total']);
  });

  it('are the same with windows evaluated one by one or together, and after a restart', () => {
    const all = Array.from({ length: 120 }, (_, at) => ({
      startMs: scenarioStartMs + at * windowMs,
      nowMs: scenarioStartMs + (at + 1) * windowMs,
      windows: crowdAt(at, at < 50 ? many : { ...many, s1: 900, [`job ${at}`]: 450 }),
    }));
    const stateOf = (detector: Detector) =>
      [...detector.save()].map(({ name, bytes }) => `${name} ${bytes.toString('base64')}`);
    const one = new Detector(options);
    const together = new Detector(options);
    for (const { windows, nowMs, startMs } of all) one.observe(windows, nowMs, startMs);
    for (let from = 0; from < 120; from += 12) together.observeAll(all.slice(from, from + 12));
    expect(stateOf(together)).toEqual(stateOf(one));
    const first = new Detector(options);
    for (const { windows, nowMs, startMs } of all.slice(0, 77)) {
      first.observe(windows, nowMs, startMs);
    }
    const next = new Detector(options);
    const parts = new Map([...first.save()].map(({ name, bytes }) => [name, bytes]));
    loadState(next, parts);
    for (const { windows, nowMs, startMs } of all.slice(77)) next.observe(windows, nowMs, startMs);
    expect(stateOf(next)).toEqual(stateOf(one));
  });
});
