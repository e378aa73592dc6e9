import { describe, expect, it } from 'vitest';
import { type AnomalyEvent, anomalyEventSchema } from '../../../src/contract/anomaly-event.ts';
import { Detector } from '../../../src/detect/detector.ts';
import { failedRequests, failures } from '../../../src/detect/proportion/proportion.ts';
import { ProportionDetector } from '../../../src/detect/proportion/proportion-detector.ts';
import { PeakPool } from '../../../src/detect/score/peak-pool.ts';
import { Random } from '../../../src/generate/random.ts';
import type { SeriesWindow } from '../../../src/series/series-window.ts';
import { detectOptions } from '../../scenarios/run-scenario.ts';
import {
  binomial,
  type Counts,
  countWindow,
  dayCurve,
  poisson,
  seriesOf,
  wandering,
  windowsPerDay,
} from '../count-traffic.ts';

const options = detectOptions();
/** Requests a second, and the part of them that fails, window by window. */
type Model = (at: number) => { readonly perSecond: number; readonly share: number };

function countsOf(model: Model, windows: number, seed: string): Counts[] {
  const random = new Random(seed);
  return Array.from({ length: windows }, (_, at) => {
    const { perSecond, share } = model(at);
    const requests = poisson(perSecond * 10, random);
    return { requests, errors: binomial(requests, share, random) };
  });
}

/** All events of one series with a page budget of one in 6,000 weeks. */
function emitted(
  counts: readonly Counts[],
  given = options,
): { readonly at: number; readonly event: AnomalyEvent }[] {
  const pool = new PeakPool();
  return eventsOf(new ProportionDetector(failures, seriesOf(), given, pool, undefined), counts);
}

function eventsOf(detector: ProportionDetector, counts: readonly Counts[]) {
  return counts.flatMap((each, at) => {
    const window = countWindow(seriesOf(), at, each);
    const { windowStartMs } = window;
    const levels = { perWeek: 1e-3 / 6 };
    const { requests: totalRequests } = each;
    const context = { nowMs: windowStartMs + 12_000, levels, totalRequests, live: true };
    const counted = totalRequests === 0 ? undefined : failedRequests(window);
    const event = detector.step(windowStartMs, counted, context, () => undefined);
    return event === undefined ? [] : [{ at, event: anomalyEventSchema.parse(event) }];
  });
}

const windowMsOf = (at: number) => countWindow(seriesOf(), at, { requests: 1 }).windowStartMs;

/** Events of one series, and its baseline after them. */
function stepsOf(counts: readonly Counts[]) {
  const detector = new ProportionDetector(failures, seriesOf(), options, new PeakPool(), undefined);
  const events = eventsOf(detector, counts).map(({ at, event: { state, started_at } }) => {
    return { at, state, startedAtMs: Date.parse(started_at) };
  });
  return { events, reference: detector.reference() };
}

/** Bursts at random, five times a day, over so many windows. */
function bursts(random: Random, windows: number, baseline: number, share: number): Model {
  let left = 0;
  return () => {
    if (left > 0) left--;
    else if (random.chance(5 / windowsPerDay)) left = windows;
    return { perSecond: 20, share: left > 0 ? share : baseline };
  };
}

const nulls: Readonly<Record<string, (random: Random) => Model>> = {
  'failures that know nothing of each other': () => () => ({ perSecond: 50, share: 0.002 }),
  'no failure at all': () => () => ({ perSecond: 50, share: 0 }),
  'one request in two seconds, one in ten fails': () => () => ({ perSecond: 0.5, share: 0.1 }),
  'five times the traffic at noon, four times the failures': () => (at) => ({
    perSecond: 5 * 5 ** dayCurve(at),
    share: 0.002 * 4 ** dayCurve(at),
  }),
  'failures that swing within a minute': (random) => {
    const level = wandering(random, 6);
    return () => ({ perSecond: 20, share: 0.02 * Math.exp(0.5 * level() - 0.125) });
  },
  'failures drawn anew each window': (random) => () => ({
    perSecond: 20,
    share: Math.min(0.9, 0.01 * Math.exp(1.2 * random.normal() - 0.72)),
  }),
  'half a minute in which a third fails, five times a day': (random) =>
    bursts(random, 3, 0.002, 0.3),
};

describe('an error rate with nothing wrong', () => {
  it.each(Object.entries(nulls))('pages nothing: %s', (name, model) => {
    const days = 8;
    for (const seed of [1, 2]) {
      const counts = countsOf(
        model(new Random(`${name} ${seed}`)),
        days * windowsPerDay,
        `${name} ${seed} draws`,
      );
      // The first day builds the baseline.
      const late = emitted(counts).filter(({ at }) => at >= windowsPerDay);
      expect(late.map(({ at, event }) => `${at} ${event.summary}`)).toEqual([]);
    }
  });
});

describe('an error rate that rises', () => {
  const from = windowsPerDay + 1000;
  const fault = { from, to: from + 120 };
  /** As many clear windows as the default. */
  const patient = { ...options, resolve_windows: 18 };
  const during = (at: number) => at >= fault.from && at < fault.to;

  it.each([
    // Requests a second, baseline, share with the fault; most windows until it opens.
    [50, 0.002, 0.05, 4],
    [5, 0.002, 0.05, 8],
    [0.5, 0.002, 0.1, 60],
    [20, 0.02, 0.06, 6],
    [20, 0, 1, 4],
  ])('%d requests a second, from %d to %d, opens once and resolves once', (...given) => {
    const [perSecond, baseline, share, most] = given;
    for (const seed of [1, 2, 3]) {
      const model: Model = (at) => ({ perSecond, share: during(at) ? share : baseline });
      const events = emitted(countsOf(model, fault.to + 200, `${given} ${seed}`));
      const opened = events.filter(({ event }) => event.state === 'opened');
      const resolved = events.filter(({ event }) => event.state === 'resolved');
      expect([opened.length, resolved.length]).toEqual([1, 1]);
      const [first] = opened;
      expect(first?.at).toBeGreaterThan(fault.from);
      expect((first?.at ?? 0) - fault.from).toBeLessThan(most);
      expect(resolved[0]?.event).toMatchObject({ resolution: 'recovered', id: first?.event.id });
      expect(resolved[0]?.at).toBeLessThan(fault.to + (perSecond < 1 ? 60 : 12));
    }
  });

  it.each([
    // Requests a second, baseline, share with the fault, windows of the fault.
    [2, 0.002, 0.15, 36],
    [1, 0.005, 0.15, 120],
    [2, 0.02, 0.2, 60],
  ])(
    '%d requests a second, from %d to %d for %d windows, ends within 4 min of it though ordinary requests fail',
    (...given) => {
      const [perSecond, baseline, share, windows] = given;
      let late = 0;
      for (let seed = 1; seed <= 10; seed++) {
        const isFault = (at: number) => at >= from && at < from + windows;
        const model: Model = (at) => ({ perSecond, share: isFault(at) ? share : baseline });
        const events = emitted(countsOf(model, from + windows + 120, `${given} ${seed}`), patient);
        expect(events.filter(({ event }) => event.state === 'opened')).toHaveLength(1);
        const end = events.find(({ event }) => event.state === 'resolved');
        if ((end?.at ?? Infinity) > from + windows + 24) late += 1;
      }
      expect(late).toBeLessThanOrEqual(2);
    },
  );

  it('that falls to an eighth of the fault stays open: ten times the baseline is no chance', () => {
    const [rest, to] = [from + 36, from + 396];
    const share = (at: number) => (at < from || at >= to ? 0.002 : at < rest ? 0.15 : 0.02);
    const counts = countsOf((at) => ({ perSecond: 20, share: share(at) }), to + 120, 'an eighth');
    const events = emitted(counts, patient);
    expect(events.map(({ event }) => event.state)).toEqual(['opened', 'resolved']);
    expect(events[1]?.at).toBeGreaterThan(to);
  });

  it('states the failing share and its baseline', () => {
    const model: Model = (at) => ({ perSecond: 50, share: during(at) ? 0.06 : 0.002 });
    const [opened] = emitted(countsOf(model, fault.to, 'says'));
    const { event } = opened as { event: AnomalyEvent };
    expect(event.kind).toBe('error_rate');
    expect(event.rate?.unit).toBe('failures per request');
    expect(event.rate?.observed).toBeCloseTo(0.06, 1);
    expect(event.rate?.baseline).toBeCloseTo(0.002, 3);
    const [low, high] = event.rate?.interval ?? [0, 0];
    expect(low < 0.06 && 0.06 < high).toBe(true);
    expect(event.evidence.p_value).toBeLessThanOrEqual(event.evidence.alpha);
    expect(event.summary).toMatch(
      /^ranker \(v1, search, eu-west-1\): [\d.]+ % of requests fail \(baseline 0\.[12]\d? %\); as of [\d:]+ UTC$/,
    );
    // Durations are normal: the event has them, without blame.
    expect([event.observed_ms > 0, event.blame, event.stage]).toEqual([true, [], 'total']);
    // One request in twenty of all, and more than twice the baseline.
    expect(event.severity).toBe('critical');
  });

  it('counts timeouts, names them, and is critical where much of all traffic fails', () => {
    const model: Model = (at) => ({ perSecond: 50, share: during(at) ? 0.4 : 0.001 });
    const counts = countsOf(model, fault.to, 'timeouts').map(({ requests, errors = 0 }) => {
      return { requests, timeouts: errors };
    });
    expect(emitted(counts)[0]?.event).toMatchObject({ severity: 'critical' });
    expect(emitted(counts)[0]?.event.summary).toMatch(/; all of them time out; as of /);
  });

  it.each([
    ['less than min_error_rate', 0.002, 0.008],
    ['less than min_error_ratio', 0.1, 0.15],
  ])('by %s pages nothing', (_, baseline, share) => {
    const model: Model = (at) => ({ perSecond: 50, share: during(at) ? share : baseline });
    expect(emitted(countsOf(model, fault.to + 100, `little ${baseline}`))).toEqual([]);
  });

  it('is left out of the baseline, from its start to the window that resolves it', () => {
    const fault = { from: 150, to: 190 };
    const isFault = (at: number) => at >= fault.from && at < fault.to;
    const counts = countsOf(
      (at) => ({ perSecond: 50, share: isFault(at) ? 0.03 : 0 }),
      300,
      'left',
    );
    const after = stepsOf(counts);
    const [opened, resolved] = after.events;
    const first = counts.findIndex((_, at) => windowMsOf(at) === opened?.startedAtMs);
    expect([opened?.state, resolved?.state, first]).toEqual(['opened', 'resolved', fault.from]);
    const isOpen = (at: number) => at >= first && at < (resolved?.at ?? 0);
    const without = stepsOf(counts.map((each, at) => (isOpen(at) ? { requests: 0 } : each)));
    expect(without.events).toEqual([]);
    expect(after.reference).toEqual(without.reference);
  });

  it('for half a minute pages nothing', () => {
    const model: Model = (at) => {
      return { perSecond: 50, share: at >= from && at < from + 3 ? 0.5 : 0.002 };
    };
    expect(emitted(countsOf(model, from + 100, 'short'))).toEqual([]);
  });

  it('and stays is rebaselined after rebaseline_after, in one event', () => {
    const model: Model = (at) => ({ perSecond: 50, share: at >= from ? 0.05 : 0.002 });
    const counts = countsOf(model, from + 4 * 360 + 3 * 360, 'stays');
    const events = emitted(counts, detectOptions({ rebaseline_after: '4h' }));
    expect(events.map(({ event }) => event.state)).toEqual(['opened', 'resolved']);
    expect(events[1]?.event).toMatchObject({ resolution: 'rebaselined' });
    expect((events[1]?.at ?? 0) - from).toBe(4 * 360);
  });

  it('whose traffic stops ends with that reason', () => {
    const model: Model = (at) => {
      return { perSecond: at >= from + 30 ? 0 : 50, share: during(at) ? 0.05 : 0.002 };
    };
    const events = emitted(countsOf(model, from + 130, 'stops'));
    expect(events.map(({ event }) => event.state)).toEqual(['opened', 'resolved']);
    expect(events[1]).toMatchObject({ at: from + 29 + 60, event: { resolution: 'no_traffic' } });
  });

  it('whose traffic falls to a request a minute ends for want of traffic, ten minutes after the last busy window', () => {
    const model: Model = (at) => ({ perSecond: 50, share: during(at) ? 0.05 : 0.002 });
    const counts = countsOf(model, from + 200, 'ebbs').map((each, at): Counts => {
      if (at < from + 30) return each;
      return { requests: at % 6 === 0 ? 1 : 0, errors: 0 };
    });
    const events = emitted(counts);
    expect(events.map(({ event }) => event.state)).toEqual(['opened', 'resolved']);
    // The last windows of many requests are evaluated for ten minutes more, at every request.
    const lastEvaluated = Math.floor((from + 29 + 59) / 6) * 6;
    const at = lastEvaluated + 60;
    expect(events[1]).toMatchObject({ at, event: { resolution: 'no_traffic' } });
  });
});

describe('the error rates of a detector', () => {
  const short = detectOptions({ baseline: '10m' });
  const counts = (share: (at: number) => number, windows: number) =>
    countsOf((at) => ({ perSecond: 50, share: share(at) }), windows, 'detector');
  const windowsOf = (all: readonly Counts[], version = (_: number) => 'v1') =>
    all.map((each, at) => [countWindow(seriesOf({ version: version(at) }), at, each)]);
  const observe = (detector: Detector, windows: readonly SeriesWindow[][]) =>
    windows.flatMap((present) => {
      return detector.observe(present, (present[0]?.windowStartMs ?? 0) + 12_000);
    });

  it('continue after a restart as without one', () => {
    const windows = windowsOf(counts((at) => (at >= 300 && at < 360 ? 0.3 : 0.002), 420));
    const all = observe(new Detector(short), windows);
    expect(all.map(({ kind, state }) => [kind, state])).toEqual([
      ['error_rate', 'opened'],
      ['error_rate', 'resolved'],
    ]);
    for (const restartAt of [330, 365]) {
      const before = observe(new Detector(short), windows.slice(0, restartAt));
      expect(before).toEqual([all[0]]);
      for (const from of [restartAt, restartAt - 120]) {
        const next = new Detector(short);
        next.restore(JSON.parse(JSON.stringify(before)));
        for (const present of windows.slice(from, restartAt)) next.warmUp([present]);
        expect(next.open).toEqual(before);
        // Without any window before, its last windows, and the worst of them, are those since.
        const { summary: _, peak: __, ...resolved } = all[1] as AnomalyEvent;
        expect(observe(next, windows.slice(restartAt))).toMatchObject([resolved]);
        expect(next.open).toEqual([]);
      }
    }
  });

  it('open for a new version that fails from its first request on', () => {
    const all = counts((at) => (at >= 300 ? 0.3 : 0.002), 340);
    const windows = windowsOf(all, (at) => (at >= 300 ? 'v2' : 'v1'));
    const [opened] = observe(new Detector(short), windows);
    expect(opened).toMatchObject({ kind: 'error_rate', version: 'v2', state: 'opened' });
  });

  it('open nothing for a new version that fails as often as the last one', () => {
    const windows = windowsOf(
      counts(() => 0.05, 900),
      (at) => `v${Math.floor(at / 150)}`,
    );
    expect(observe(new Detector(short), windows)).toEqual([]);
  });
});

describe('a model that few use', () => {
  const hour = windowsPerDay / 24;
  const outage = (seconds: number, fromHour: number, share = 1): Model => {
    return (at) => {
      const isOut = at >= fromHour * hour && at < (fromHour + 12) * hour;
      return { perSecond: 1 / seconds, share: isOut ? share : 0 };
    };
  };

  it.each([
    [5, 30, 30],
    [20, 30, 20],
    [60, 30, 20],
    [300, 30, 20],
    [60, 200, 16],
    [300, 200, 16],
  ])(
    'at one request in %i s, known for %i h, pages once until all of it is over',
    (seconds, fromHour, most) => {
      const hours = fromHour + 12 + (80 * seconds) / 3600;
      const counts = countsOf(outage(seconds, fromHour), hours * hour, `outage ${seconds}`);
      const events = emitted(counts).filter(({ event }) => event.state !== 'updated');
      expect(events.map(({ event }) => [event.state, event.resolution])).toEqual([
        ['opened', null],
        ['resolved', 'recovered'],
      ]);
      const [openedAt, resolvedAt] = events.map(({ at }) => at) as [number, number];
      const failed = counts.slice(0, openedAt + 1).reduce((sum, { errors = 0 }) => sum + errors, 0);
      expect(failed).toBeLessThanOrEqual(most);
      expect(resolvedAt).toBeGreaterThan((fromHour + 12) * hour);
    },
  );

  it.each([
    ['one in a hundred fails', () => ({ perSecond: 1 / 60, share: 0.01 })],
    ['one in ten fails', () => ({ perSecond: 1 / 60, share: 0.1 })],
    [
      'a pod restarts for a minute every five hours',
      (at: number) => {
        return { perSecond: 1 / 10, share: at % (5 * hour) < 6 ? 1 : 0 };
      },
    ],
  ] as [string, Model][])('pages nothing: %s', (name, model) => {
    expect(emitted(countsOf(model, 6 * windowsPerDay, name))).toEqual([]);
  });

  it('ends without traffic once none comes for longer than any pause of the baseline', () => {
    const model: Model = (at) => ({
      perSecond: at < 36 * hour ? 1 / 60 : 0,
      share: at < 34 * hour ? 0 : 1,
    });
    const events = emitted(countsOf(model, 40 * hour, 'stops'));
    expect(events.map(({ event }) => [event.state, event.resolution])).toEqual([
      ['opened', null],
      ['resolved', 'no_traffic'],
    ]);
    // Twice the time in which `min_requests` come.
    expect((events[1]?.at ?? 0) / hour - 36).toBeGreaterThan(0.75);
    expect((events[1]?.at ?? 0) / hour - 36).toBeLessThan(1.25);
  });
});
