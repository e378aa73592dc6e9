import { describe, expect, it } from 'vitest';
import { configSchema } from '../../../src/config/schema.ts';
import { type AnomalyEvent, anomalyEventSchema } from '../../../src/contract/anomaly-event.ts';
import { burnRulesOf } from '../../../src/detect/slo/burn-rules.ts';
import { badRequests, SloBurnDetectors } from '../../../src/detect/slo/slo-burn-detectors.ts';
import type { SeriesWindow, StageSummary } from '../../../src/series/series-window.ts';
import { TDigest } from '../../../src/sketch/t-digest.ts';
import { StateReader } from '../../../src/snapshot/archive-reader.ts';
import { StateWriter } from '../../../src/snapshot/archive-writer.ts';
import { detectOptions } from '../../scenarios/run-scenario.ts';
import { countStartMs, countWindow, seriesOf, windowMs } from '../count-traffic.ts';

const minute = 60_000 / windowMs;
const hour = 60 * minute;
const slo = { model: 'rank*', threshold: '200ms', objective: 0.999 };
const options = (slos: readonly object[] = [slo]) => detectOptions({ slos });

/** A window of 1,000 requests: the given counts are slow (half a second) or fail, the rest have 50 ms. */
function windowOf(
  at: number,
  slow: number,
  errors = 0,
  changed: Partial<SeriesWindow['series']> = {},
) {
  const window = countWindow(seriesOf(changed), at, { requests: 1000, errors });
  const total = window.stages.get('total') as StageSummary;
  // Almost no weight on either side of the threshold, so that none is spread across it.
  const centroids = [
    [50, 1000 - slow],
    [199.999, 1e-9],
    [200.001, 1e-9],
    [500, slow],
  ].filter(([, weight = 0]) => weight > 0);
  const [means, weights] = [0, 1].map((i) => centroids.map((each) => each[i] as number));
  const digest = TDigest.fromCentroids(means ?? [], weights ?? [], centroids.length);
  return { ...window, stages: new Map([['total', { ...total, digest }]]) };
}

const context = (at: number, live = true) => ({
  nowMs: countStartMs + at * windowMs + 12_000,
  levels: { perWeek: 1 },
  totalRequests: 1000,
  live,
});
const tailOf = () => ({ now: undefined, baseline: undefined });

interface Emitted {
  readonly at: number;
  readonly event: AnomalyEvent;
}

function run(
  detectors: SloBurnDetectors,
  windows: number,
  of: (at: number) => readonly SeriesWindow[],
  first = 0,
): Emitted[] {
  const emitted: Emitted[] = [];
  for (let at = first; at < windows; at++) {
    const startMs = countStartMs + at * windowMs;
    for (const event of detectors.step(of(at), startMs, context(at), tailOf)) {
      emitted.push({ at, event: anomalyEventSchema.parse(event) });
    }
  }
  return emitted;
}

const outline = (emitted: readonly Emitted[]) =>
  emitted.map(({ event }) => `${event.state} ${event.severity}`);

describe('a burning objective', () => {
  const incident = { from: 2 * hour, to: 2 * hour + 20 * minute };
  const during = (at: number) => at >= incident.from && at < incident.to;
  /** 15 % of requests are slow for twenty minutes. */
  const slow = (at: number) => [windowOf(at, during(at) ? 150 : 0)];

  it('opens once 2 % of a month are spent in an hour, and resolves with the last minutes', () => {
    const emitted = run(new SloBurnDetectors(options()), 12 * hour, slow);
    expect(outline(emitted)).toEqual(['opened critical', 'resolved critical']);
    const [opened, resolved] = emitted as [Emitted, Emitted];
    // In the hour as counted by minutes, 14.4 times the allowed rate: 5.2 of 358 thousand.
    expect(opened.at - incident.from).toBe(34);
    expect(opened.event).toMatchObject({
      kind: 'slo_burn',
      ...{ model: 'ranker', version: '', region: '', request_type: '' },
      started_at: new Date(countStartMs + incident.from * windowMs).toISOString(),
      slo: {
        ...{ name: '99.9 % of rank* in 200 ms', objective: 0.999, threshold_ms: 200 },
        ...{ burn_rate: 14.4, long_ms: 3_600_000, short_ms: 300_000 },
      },
      rate: { unit: 'errors per request', baseline: 0.001 },
      evidence: { test: 'burn_rate', exceedances: 35 * 150 },
    });
    expect(opened.event.rate?.ratio).toBeGreaterThanOrEqual(14.4);
    // 6 times over half an hour: until fewer than 1.1 of the bad minutes are in it, and three windows more.
    expect(resolved.event.resolution).toBe('recovered');
    expect(resolved.at - incident.to).toBeGreaterThan(25 * minute);
    expect(resolved.at - incident.to).toBeLessThan(31 * minute);
  });

  it('slowly opens too, as a warning, and becomes critical when it speeds up', () => {
    // Three times the allowed rate for days, then ten times.
    const emitted = run(new SloBurnDetectors(options()), 34 * hour, (at) => [
      windowOf(at, at < 30 * hour ? 3 : 10),
    ]);
    expect(outline(emitted)).toEqual(['opened warning', 'updated critical']);
    const [opened, worse] = emitted as [Emitted, Emitted];
    // A third of three days, by whole minutes: unknown minutes count as good.
    expect(opened.at).toBe(24 * hour - minute);
    expect(opened.event.slo).toMatchObject({ burn_rate: 1, long_ms: 3 * 86_400_000 });
    expect(worse.at).toBeGreaterThan(30 * hour);
    expect(worse.event.slo).toMatchObject({ burn_rate: 6 });
    expect(worse.event.id).toBe(opened.event.id);
  });

  it('is counted by model and request type, errors included, with a summary in words', () => {
    const detectors = new SloBurnDetectors(options([{ ...slo, request_type: 'search' }]));
    const emitted = run(detectors, 2 * hour, (at) => [
      ...['ranker', 'ranker-2'].map((model) => {
        return windowOf(at, 0, model === 'ranker' && at >= hour ? 100 : 0, { model });
      }),
      windowOf(at, 900, 0, { request_type: 'batch' }),
      windowOf(at, 900, 0, { model: 'other' }),
    ]);
    expect(outline(emitted)).toEqual(['opened critical']);
    expect(emitted[0]?.event).toMatchObject({ model: 'ranker', request_type: 'search' });
    expect(emitted[0]?.event.summary.replace(/; as of [\d:]+ UTC$/, '')).toBe(
      'ranker (search): 10 % of requests in the last 5 min (1.5 % in the last hour) exceeded 200 ms or failed; ' +
        'at this rate the 30-day error budget of the 99.9 % objective is gone in 2.1 d',
    );
  });

  it('of few requests pages nothing', () => {
    const few = (at: number) => {
      const window = windowOf(at, 1000);
      const total = window.stages.get('total') as StageSummary;
      // One in half a minute, all of them slow, four in all.
      const requests = at % 3 === 0 && at > hour && at <= hour + 12 ? 1 : 0;
      return requests === 0
        ? []
        : [{ ...window, stages: new Map([['total', { ...total, requests }]]) }];
    };
    expect(run(new SloBurnDetectors(options()), 2 * hour, few)).toEqual([]);
  });

  it('continues after a restart as without one', () => {
    const all = run(new SloBurnDetectors(options()), 5 * hour, slow);
    const restartAt = incident.to + 5 * minute;
    for (const history of [0, 10 * minute, 2 * hour]) {
      const next = new SloBurnDetectors(options());
      const open = anomalyEventSchema.parse(JSON.parse(JSON.stringify(all[0]?.event)));
      next.restore(open);
      for (let at = restartAt - history; at < restartAt; at++) {
        expect(
          next.step(slow(at), countStartMs + at * windowMs, context(at, false), tailOf),
        ).toEqual([]);
      }
      const emitted = run(next, 5 * hour, slow, restartAt);
      expect(outline(emitted)).toEqual(['resolved critical']);
      // With the history of a restart, at the same window.
      if (history === 2 * hour) expect(emitted).toEqual(all.slice(1));
    }
  });

  it('restored from a snapshot continues like the original', () => {
    const all = run(new SloBurnDetectors(options()), 5 * hour, slow);
    for (const savedAt of [incident.from, incident.to - 1, incident.to + 5 * minute]) {
      const one = new SloBurnDetectors(options());
      const before = run(one, savedAt, slow);
      const writer = new StateWriter();
      one.serialize(writer);
      const next = new SloBurnDetectors(options());
      const reader = new StateReader(writer.drain());
      next.serialize(reader);
      reader.end();
      expect([...before, ...run(next, 5 * hour, slow, savedAt)]).toEqual(all);
    }
  });

  it('is evaluated for a thousand models, and windows of others are counted', () => {
    const detectors = new SloBurnDetectors(options([{ ...slo, model: '*' }]));
    const one = windowOf(0, 0);
    const many = Array.from({ length: 1_003 }, (_, n) => {
      return { ...one, series: { ...one.series, model: `m${n}` } };
    });
    run(detectors, 2, () => many);
    expect(detectors.windowsBeyondLimit).toBe(6);
  });

  it('that is no longer configured resolves for want of requests', () => {
    const opened = run(new SloBurnDetectors(options()), incident.to, slow);
    const next = new SloBurnDetectors(options([]));
    next.restore((opened[0] as Emitted).event);
    const emitted = run(next, incident.to + 2 * hour, slow, incident.to);
    expect(emitted.map(({ event }) => event.resolution)).toEqual(['no_traffic']);
  });
});

describe('a bad request', () => {
  const total = (slow: number, counts: Partial<StageSummary>) => {
    const summary = windowOf(0, slow).stages.get('total') as StageSummary;
    return { ...summary, ...counts };
  };

  it.each([
    [0, {}, 0],
    [30, {}, 30],
    // Errors are as slow as the others, timeouts are among the slow ones.
    [100, { errors: 100 }, 190],
    [100, { timeouts: 100 }, 100],
    [0, { timeouts: 100 }, 100],
    [1000, { errors: 500, timeouts: 500 }, 1000],
    [0, { requests: 0 }, 0],
  ])('of %d slow ones and %j is one of %d', (slow, counts, bad) => {
    expect(badRequests(total(slow, counts), 200)).toBeCloseTo(bad, 6);
  });
});

describe('an objective of a stage', () => {
  /** A window whose stage `queue` is slow: the total is not. */
  const slowQueue = (at: number, slow: number) => {
    const window = windowOf(at, slow);
    const total = window.stages.get('total') as StageSummary;
    const fast = windowOf(at, 0).stages.get('total') as StageSummary;
    const stages = new Map([
      ['queue', { ...total, stage: 'queue' }],
      ['total', fast],
    ]);
    return { ...window, stages };
  };
  const ofQueue = { ...slo, stage: 'queue' };

  it('burns by the digests of this stage, and says which', () => {
    const emitted = run(new SloBurnDetectors(options([slo, ofQueue])), 2 * hour, (at) => [
      slowQueue(at, at >= hour ? 100 : 0),
    ]);
    expect(outline(emitted)).toEqual(['opened critical']);
    const { slo: emittedSlo, summary } = (emitted[0] as Emitted).event;
    expect(emittedSlo).toMatchObject({
      ...{ name: '99.9 % of rank* in queue 200 ms', stage: 'queue', threshold_ms: 200 },
    });
    expect(summary).toContain(' exceeded 200 ms in queue or failed; ');
  });

  it('that a series does not have counts nothing', () => {
    const detectors = new SloBurnDetectors(options([ofQueue]));
    expect(run(detectors, 2 * hour, (at) => [windowOf(at, 900)])).toEqual([]);
  });
});

describe('a joint objective', () => {
  const all = { first_token: '500ms', total: '10s' };
  const joint = { model: 'rank*', match: { region: 'eu-*' }, all, objective: 0.99, window: '7d' };
  const row = 'objective: first_token<=500,total<=10000';
  const counted = (at: number, bad: number, changed: Partial<SeriesWindow['series']> = {}) => ({
    ...windowOf(at, 0, 0, { region: 'eu-1', ...changed }),
    objectives: new Map([[row, { requests: 1000, bad }]]),
  });

  it('burns by its exact counts, of what it matches, at the rate of its window', () => {
    const emitted = run(new SloBurnDetectors(options([joint])), 3 * hour, (at) => [
      counted(at, at >= hour ? 100 : 0),
      counted(at, 1000, { region: 'us-1' }),
      counted(at, 1000, { region: 'eu-1', model: 'other' }),
    ]);
    expect(outline(emitted)).toEqual(['opened critical']);
    const { event, at } = emitted[0] as Emitted;
    // 10 % of requests are bad: 3.36 times the allowed 1 % over an hour.
    expect(at).toBe(hour + 20 * minute);
    expect(event).toMatchObject({ model: 'ranker', region: '' });
    expect(event.slo).toEqual({
      name: '99 % of rank* (region eu-*) meet first_token 500 ms, total 10 s over 7 d',
      ...{ objective: 0.99, all: { first_token: 500, total: 10_000 }, window_ms: 7 * 86_400_000 },
      ...{ burn_rate: 3.36, long_ms: 3_600_000, short_ms: 300_000 },
    });
    expect(event.evidence.exceedances % 100).toBe(0);
    expect(event.summary).toContain(
      'missed one of first_token 500 ms, total 10 s, or failed; at this rate the 7-day error budget',
    );
  });

  it('has nothing to count where ingest counts other thresholds', () => {
    const changed = { ...joint, all: { ...all, total: '11s' } };
    const detectors = new SloBurnDetectors(options([changed]));
    expect(run(detectors, 2 * hour, (at) => [counted(at, 900)])).toEqual([]);
  });

  it('continues after a restart, from the event and from a snapshot', () => {
    const bad = (at: number) => [counted(at, at >= hour && at < 2 * hour ? 200 : 0)];
    const whole = run(new SloBurnDetectors(options([joint])), 5 * hour, bad);
    expect(outline(whole)).toEqual(['opened critical', 'resolved critical']);
    const savedAt = 2 * hour - 1;
    const one = new SloBurnDetectors(options([joint]));
    const before = run(one, savedAt, bad);
    const writer = new StateWriter();
    one.serialize(writer);
    const next = new SloBurnDetectors(options([joint]));
    const reader = new StateReader(writer.drain());
    next.serialize(reader);
    reader.end();
    expect([...before, ...run(next, 5 * hour, bad, savedAt)]).toEqual(whole);
    const other = new SloBurnDetectors(options([joint]));
    other.restore(anomalyEventSchema.parse(JSON.parse(JSON.stringify(whole[0]?.event))));
    const resumed = run(other, 5 * hour, bad, savedAt);
    expect(resumed.map(({ event }) => [event.id, event.state])).toEqual([
      [whole[0]?.event.id, 'resolved'],
    ]);
  });
});

describe('burn rates', () => {
  it.each([
    [30, [14.4, 6, 1]],
    [28, [13.44, 5.6, 1]],
    [7, [3.36, 1.4, 1]],
  ])(
    'of a window of %d days spend the same parts of its budget, and none is below 1',
    (days, factors) => {
      expect(burnRulesOf(days * 86_400_000).map(({ factor }) => factor)).toEqual(factors);
    },
  );
});

describe('an objective', () => {
  it.each([
    ['of all requests', { ...slo, objective: 1 }],
    ['without a threshold', { model: 'a', objective: 0.9 }],
    ['of no model', { ...slo, model: '' }],
  ])('%s is refused', (_, given) => {
    expect(configSchema.safeParse({ detect: { slos: [given] } }).success).toBe(false);
  });

  it('is refused where another has its name or the same definition', () => {
    const parse = (slos: readonly object[]) => configSchema.safeParse({ detect: { slos } }).success;
    expect(parse([slo, slo])).toBe(false);
    expect(parse([slo, { ...slo, threshold: '1s' }])).toBe(true);
    const named = { ...slo, name: 'fast' };
    expect(parse([named, { ...named, model: 'other' }])).toBe(false);
  });
});
