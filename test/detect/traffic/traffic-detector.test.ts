import { describe, expect, it } from 'vitest';
import { type AnomalyEvent, anomalyEventSchema } from '../../../src/contract/anomaly-event.ts';
import { Detector, type TrafficBlock } from '../../../src/detect/detector.ts';
import { PeakPool } from '../../../src/detect/score/peak-pool.ts';
import { TrafficDetector } from '../../../src/detect/traffic/traffic-detector.ts';
import { Random } from '../../../src/generate/random.ts';
import type { SeriesWindow } from '../../../src/series/series-window.ts';
import { detectOptions } from '../../scenarios/run-scenario.ts';
import {
  countStartMs,
  countWindow,
  dayCurve,
  poisson,
  seriesOf,
  wandering,
  windowMs,
  windowsPerDay,
} from '../count-traffic.ts';

const options = detectOptions();
const hour = windowsPerDay / 24;
const tail = () => ({ now: undefined, baseline: undefined });
const levels = { perWeek: 1e-3 / 6 };
/** Requests a second, window by window. */
type Model = (at: number) => number;

interface Emitted {
  readonly at: number;
  readonly event: AnomalyEvent;
}

/** All events of a model's traffic. */
function emitted(model: Model, windows: number, seed: string, given = options): Emitted[] {
  const detector = new TrafficDetector('ranker', given, new PeakPool());
  const random = new Random(seed);
  const all: Emitted[] = [];
  for (let at = 0; at < windows; at++) {
    const startMs = countStartMs + at * windowMs;
    const requests = poisson(model(at) * 10, random);
    const context = { nowMs: startMs + 12_000, levels, totalRequests: requests, live: true };
    for (const event of detector.step(
      { startMs, requests, isSilentEverywhere: false, tail },
      context,
    )) {
      all.push({ at, event: anomalyEventSchema.parse(event) });
    }
  }
  return all;
}

const hourOf = (at: number) => (at % windowsPerDay) / hour;
const isWeekend = (at: number) => Math.floor(at / windowsPerDay) % 7 >= 5;

/** Random traffic in spells of so many windows, with pauses of so many. */
function spells(random: Random, perDay: number, windows: () => number, at: number, else_: number) {
  let left = 0;
  return () => {
    if (left > 0) left--;
    else if (random.chance(perDay / windowsPerDay)) left = windows();
    return left > 0 ? at : else_;
  };
}

const nulls: Readonly<Record<string, (random: Random) => Model>> = {
  steady: () => () => 50,
  'one request in two seconds': () => () => 0.5,
  'one request in ten minutes': () => () => 1 / 600,
  'a night with a twentieth of noon': () => (at) => 20 ** dayCurve(at),
  'a weekend with two fifths': () => (at) => 4 * 5 ** dayCurve(at) * (isWeekend(at) ? 0.4 : 1),
  'clocks that change': () => (at) => 4 * 8 ** dayCurve(at > 5 * windowsPerDay ? at + hour : at),
  'an office from eight to six': () => (at) => (hourOf(at) >= 8 && hourOf(at) < 18 ? 20 : 0.2),
  'an office that is closed at weekends': () => (at) => {
    return hourOf(at) >= 8 && hourOf(at) < 18 && !isWeekend(at) ? 20 : 0;
  },
  'a job at two in the morning': () => (at) => (hourOf(at) >= 2 && hourOf(at) < 3 ? 20 : 0),
  'a job each quarter of an hour': () => (at) => (at % 90 === 0 ? 30 : 0),
  'somebody who tries something': (random) =>
    spells(random, 5, () => 3 + (random.uint32() % (2 * hour)), 10, 0),
  'a minute and a half without traffic, five times a day': (random) =>
    spells(random, 5, () => 9, 0, 20),
  'swings within an hour, σ 0.5': (random) => {
    const level = wandering(random, 360);
    return () => 20 * Math.exp(0.5 * level() - 0.125);
  },
  'drawn anew each window, σ 1': (random) => () => 20 * Math.exp(random.normal() - 0.5),
};

describe('traffic with nothing wrong', () => {
  it.each(Object.entries(nulls))('pages nothing: %s', (name, model) => {
    const events = emitted(model(new Random(name)), 15 * windowsPerDay, `${name} draws`);
    expect(events.map(({ at, event }) => `${at} ${event.summary}`)).toEqual([]);
  });

  it('pages nothing in the first day, whatever happens to it', () => {
    expect(emitted((at) => (at < windowsPerDay - hour ? 50 : 0), windowsPerDay, 'first')).toEqual(
      [],
    );
  });
});

describe('traffic that stops', () => {
  const from = 9 * windowsPerDay + 4_000;
  const to = from + 120;

  it.each([
    ['steady', () => 50],
    ['one request in two seconds', () => 0.5],
    ['a night with a fifth of noon', (at: number) => 2 * 5 ** dayCurve(at)],
  ])('opens two minutes later, and resolves when it is back: %s', (name, model: Model) => {
    const stopped: Model = (at) => (at >= from && at < to ? 0 : model(at));
    const events = emitted(stopped, to + 200, `stop ${name}`);
    expect(
      events.map(({ event: { kind, state, resolution } }) => [kind, state, resolution]),
    ).toEqual([
      ['no_data', 'opened', null],
      ['no_data', 'resolved', 'recovered'],
    ]);
    const [opened, resolved] = events as [Emitted, Emitted];
    expect(opened.at - from).toBeGreaterThanOrEqual(10);
    expect(opened.at - from).toBeLessThanOrEqual(11);
    expect(resolved.at - to).toBeLessThanOrEqual(5);
    expect(opened.event).toMatchObject({
      severity: 'critical',
      model: 'ranker',
      ...{ version: '', region: '', request_type: '', requests: 0, observed_ms: 0 },
      evidence: { test: 'silence', exceedances: 0 },
      rate: { unit: 'requests per second', observed: 0, ratio: 0 },
    });
    expect(opened.event.rate?.baseline).toBeGreaterThan(0.7 * model(from));
    expect(opened.event.evidence.p_value).toBeLessThan(opened.event.evidence.alpha);
    expect(opened.event.summary).toMatch(
      /^ranker: no request for ((119|1[0-4]\d) s|2 min) \(baseline [\d.]+\/(s|min)\); as of [\d:]+ UTC$/,
    );
    expect(resolved.event.summary).toMatch(/^ranker receives requests again: .* \(baseline /);
  });

  it('and stays away is rebaselined after rebaseline_after, opened once', () => {
    const given = detectOptions({ rebaseline_after: '4h' });
    const events = emitted((at) => (at >= from ? 0 : 50), from + 6 * 360, 'for good', given);
    expect(
      events.map(({ event: { kind, state, resolution } }) => [kind, state, resolution]),
    ).toEqual([
      ['no_data', 'opened', null],
      ['no_data', 'resolved', 'rebaselined'],
    ]);
  });
});

describe('traffic that falls', () => {
  const from = 9 * windowsPerDay + 4_000;
  const to = from + 180;
  const falling =
    (model: Model, part: number): Model =>
    (at) =>
      model(at) * (at >= from && at < to ? part : 1);

  it.each([
    ['to two fifths', 50, 0.4, 'warning'],
    ['to a tenth', 50, 0.09, 'critical'],
    ['to a tenth, of one in two seconds', 0.5, 0.09, 'critical'],
  ])('%s opens within ten minutes and resolves', (name, perSecond, part, severity) => {
    const events = emitted(
      falling(() => perSecond, part),
      to + 200,
      `fall ${name}`,
    );
    const [opened, ...later] = events as [Emitted, ...Emitted[]];
    expect(opened.event).toMatchObject({ kind: 'throughput_drop', state: 'opened' });
    expect(opened.at - from).toBeLessThan(60);
    expect(later.at(-1)?.event).toMatchObject({ state: 'resolved', resolution: 'recovered' });
    expect((later.at(-1)?.at ?? 0) - to).toBeLessThan(40);
    expect(events.filter(({ event }) => event.state === 'resolved')).toHaveLength(1);
    expect(events.at(-1)?.event.severity).toBe(severity);
    expect(opened.event.rate?.observed).toBeLessThan(0.5 * perSecond);
  });

  it('by less than min_traffic_drop pages nothing', () => {
    expect(
      emitted(
        falling(() => 50, 0.6),
        to + 100,
        'small',
      ),
    ).toEqual([]);
  });

  it('and then stops is one anomaly, which becomes critical', () => {
    const model: Model = (at) => (at < from ? 50 : at < from + 60 ? 15 : at < to ? 0 : 50);
    const states = emitted(model, to + 200, 'stops').map(({ event }) => [
      event.kind,
      event.state,
      event.severity,
    ]);
    expect(states).toEqual([
      ['throughput_drop', 'opened', 'warning'],
      ['throughput_drop', 'updated', 'critical'],
      ['throughput_drop', 'resolved', 'critical'],
    ]);
  });
});

describe('traffic after a crowd', () => {
  const day = windowsPerDay;
  /** So many times the traffic of every day, from an hour on, for some hours. */
  const crowd =
    (times: number, fromHour: number, hours: number): Model =>
    (at) =>
      at >= fromHour * hour && at < (fromHour + hours) * hour ? times : 1;

  it.each([
    ['six times for an hour', crowd(6, 40, 1), 4],
    ['eight times for two hours', crowd(8, 58, 2), 4],
    ['ten times for a day', crowd(10, 100, 24), 7],
    ['six times by night', crowd(6, 50, 3), 4],
  ])('is no drop once it is the baseline again: %s', (name, times, days) => {
    const model: Model = (at) => 20 * times(at) * 3 ** dayCurve(at);
    expect(emitted(model, days * day, `crowd ${name}`)).toEqual([]);
  });

  it.each([
    ['two hours later', 3],
    ['with its end', 1],
  ])('that falls below the baseline pages: %s', (name, after) => {
    const fallen = (at: number) => at >= (40 + after) * hour && at < (41 + after) * hour;
    const model: Model = (at) => 20 * crowd(6, 40, 1)(at) * (fallen(at) ? 0.1 : 1);
    const events = emitted(model, 3 * day, `fall ${name}`);
    const [opened, ended] = ['opened', 'resolved'].map((state) =>
      events.filter(({ event }) => event.state === state),
    ) as [Emitted[], Emitted[]];
    expect([opened.length, ended.length]).toEqual([1, 1]);
    expect((opened[0]?.at ?? 0) - (40 + after) * hour).toBeLessThan(60);
    expect((ended[0]?.at ?? 0) - (41 + after) * hour).toBeLessThan(60);
  });

  it('falls below a level that has come on two days', () => {
    const grown: Model = (at) => (at < 40 * hour ? 20 : at < 96 * hour ? 100 : 20);
    const events = emitted(grown, 97 * hour, 'grown');
    expect(events.map(({ event }) => event.kind)).toEqual(['throughput_drop']);
  });
});

describe('the traffic of a detector', () => {
  const short = detectOptions({ baseline: '10m' });
  const days = 8;
  const historyFrom = countStartMs - days * 86_400_000;
  /** The same traffic on the eight days before. */
  const blocks = (models: readonly string[]): TrafficBlock[] =>
    Array.from({ length: days * 144 }, (_, n) => n).flatMap((n) =>
      [...models, ''].map((model) => ({
        model,
        startMs: historyFrom + n * 600_000,
        requests: 600 * 50 * (model === '' ? models.length : 1),
      })),
    );
  const detectorOf = (models: readonly string[]) => {
    const detector = new Detector(short);
    detector.backfillTraffic(blocks(models), countStartMs);
    return detector;
  };
  const present = (at: number, models: readonly Partial<SeriesWindow['series']>[]) =>
    models.map((changed) => countWindow(seriesOf(changed), at, { requests: 500 }));
  const observe = (detector: Detector, windows: readonly SeriesWindow[][], first = 0) =>
    windows.flatMap((all, n) => {
      const startMs = countStartMs + (first + n) * windowMs;
      return detector.observe(all, startMs + 12_000, startMs);
    });
  const outline = (events: readonly AnomalyEvent[]) =>
    events.map(({ kind, model, state }) => `${model} ${kind} ${state}`);
  const both = [{ model: 'a' }, { model: 'b' }];

  it('is one anomaly of a model, however many series it has', () => {
    const series = ['eu', 'us', 'ap'].map((region) => ({ model: 'a', region }));
    const windows = Array.from({ length: 300 }, (_, at) =>
      present(at, [...(at >= 200 && at < 260 ? [] : series), { model: 'b' }]),
    );
    expect(outline(observe(detectorOf(['a', 'b']), windows))).toEqual([
      'a no_data opened',
      'a no_data resolved',
    ]);
  });

  it('moves from one version to the next without an event', () => {
    const windows = Array.from({ length: 500 }, (_, at) =>
      present(at, [{ model: 'a', version: at < 250 ? 'v1' : 'v2' }, { model: 'b' }]),
    );
    expect(observe(detectorOf(['a', 'b']), windows)).toEqual([]);
  });

  it('without any model is one anomaly of all, after five minutes', () => {
    const windows = Array.from({ length: 300 }, (_, at) =>
      present(at, at >= 200 && at < 260 ? [] : both),
    );
    const events = observe(detectorOf(['a', 'b']), windows);
    expect(outline(events)).toEqual([' no_data opened', ' no_data resolved']);
    expect(events[0]?.started_at).toBe(new Date(countStartMs + 200 * windowMs).toISOString());
    expect(Date.parse(events[0]?.detected_at ?? '') - countStartMs).toBe(230 * windowMs + 2_000);
    expect(events[0]?.summary).toMatch(
      /^all models: no request for 5 min \(baseline .*\); .* has stopped; as of [\d:]+ UTC$/,
    );
  });

  it('of a model that returns a little later than the others opens nothing of its own', () => {
    const windows = Array.from({ length: 300 }, (_, at) => {
      if (at >= 200 && at < 290) return [];
      return present(at, at >= 290 && at < 295 ? [{ model: 'b' }] : both);
    });
    expect(outline(observe(detectorOf(['a', 'b']), windows))).toEqual([
      ' no_data opened',
      ' no_data resolved',
    ]);
  });

  it('is evaluated as stopped though no window shows it', () => {
    const detector = detectorOf(['a', 'b']);
    const windows = Array.from({ length: 200 }, (_, at) => present(at, both));
    expect(observe(detector, windows)).toEqual([]);
    const endMs = countStartMs + 200 * windowMs;
    expect(detector.silentUntil(endMs + 299_000, endMs + 330_000)).toEqual([]);
    const opened = detector.silentUntil(endMs + 300_000, endMs + 331_000);
    expect(outline(opened)).toEqual([' no_data opened']);
    expect(detector.open).toEqual(opened);
    expect(detector.silentUntil(endMs + 310_000, endMs + 341_000)).toEqual([]);
    const back = Array.from({ length: 20 }, (_, n) => present(260 + n, both));
    const between = Array.from({ length: 60 }, () => []);
    expect(outline(observe(detector, [...between, ...back], 200))).toEqual([' no_data resolved']);
  });

  it('continues after a restart: an open anomaly resolves once, when traffic is back', () => {
    const windows = Array.from({ length: 300 }, (_, at) =>
      present(at, at >= 200 && at < 260 ? [{ model: 'b' }] : both),
    );
    const all = observe(detectorOf(['a', 'b']), windows);
    expect(outline(all)).toEqual(['a no_data opened', 'a no_data resolved']);
    for (const history of [0, 30, 120]) {
      const next = new Detector(short);
      next.restore(JSON.parse(JSON.stringify(all.slice(0, 1))));
      for (const past of windows.slice(240 - history, 240)) next.warmUp([past]);
      expect(next.open).toEqual(all.slice(0, 1));
      expect(outline(observe(next, windows.slice(240), 240))).toEqual(['a no_data resolved']);
      expect(next.open).toEqual([]);
    }
  });

  it('that stopped before a restart opens after it, if it was not emitted before', () => {
    const windows = Array.from({ length: 300 }, (_, at) =>
      present(at, at >= 200 && at < 260 ? [{ model: 'b' }] : both),
    );
    const next = detectorOf(['a', 'b']);
    for (const past of windows.slice(0, 205)) next.warmUp([past]);
    expect(outline(observe(next, windows.slice(205), 205))).toEqual([
      'a no_data opened',
      'a no_data resolved',
    ]);
  });
});
